import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import document from '../../../api/openapi.json';
import { aVisitor, launchBrowser, SIZES } from '../../support/browser';
import { setUp } from '../../support/set-up';
import { API_KEY, serveTestApi } from '../../support/test-api';
import { until } from '../../support/waits';

const api = setUp(() => serveTestApi());
const browser = setUp(() => launchBrowser());
/** A proxy that forwards what is below /payments. */
const proxy = setUp(async () => {
  const server = http.createServer(({ url, headers }, response) => {
    http.get(`${api.url}${url!.replace(/^\/payments/, '')}`, { headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    prefix: `http://127.0.0.1:${(server.address() as AddressInfo).port}/payments`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
});
// A page that stays open goes on drawing.
afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));

test('openapi.json is the document', async () => {
  const response = await fetch(`${api.url}/docs/openapi.json`);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.text()).toBe(JSON.stringify(document));
});

test('the script is whole whatever range is asked for, and an error about it is not compressed', async () => {
  const get = (headers: Record<string, string>) => fetch(`${api.url}/docs/scalar.js`, { headers });
  const whole = await get({ range: 'bytes=99999999-' });
  expect([whole.status, (await whole.text()).length > 1_000_000]).toEqual([200, true]);
  const refused = await get({ 'if-unmodified-since': 'Thu, 01 Jan 2015 00:00:00 GMT' });
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: { type: 'ValidationError' } }]);
});

test('a client that leaves while it gets the script harms nobody, and is no error', async () => {
  api.lines.length = 0;
  const { hostname, port } = new URL(api.url);
  await new Promise<void>((resolve, reject) => {
    const leaving = net.connect(Number(port), hostname, () => {
      leaving.write('GET /docs/scalar.js HTTP/1.1\r\nHost: docs\r\nConnection: close\r\n\r\n');
    });
    leaving.once('data', () => resolve(void leaving.resetAndDestroy())).once('error', reject);
  });
  // The answer to it ends before this one.
  for (let asked = 0; asked < 3; asked += 1) {
    expect((await fetch(`${api.url}/docs/scalar.js`, { method: 'HEAD' })).status).toBe(200);
  }
  await until('it has left', () => api.lines.some((line) => line.includes('"is_incomplete":true')));
  expect(api.lines.filter((line) => line.includes('"level":50'))).toEqual([]);
});

test('its scripts are its own: only this server, and nothing inline', async () => {
  const response = await fetch(`${api.url}/docs/`);
  const policy = response.headers.get('content-security-policy');
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; .*connect-src 'self'; /);
  expect(policy).not.toMatch(/unsafe-eval|https?:|\*/);
  const html = await response.text();
  expect(html.match(/<script[^>]*>[^<]|<script(?! src=)|style=/)).toBeNull();
  expect(html).toContain('<script src="start.js">');
});

// One visit: to draw the page of all operations takes seconds of the processor.
test('shows every operation on a desktop and on a phone, without the slash at its end, below a path prefix and from this server alone, and its console calls the API with the key that is typed in', async () => {
  const { page, complaints } = await aVisitor(browser, { size: 'desktop' });
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  const folder = `${proxy.prefix}/docs`;
  await page.goto(folder, { waitUntil: 'networkidle' });
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  await until('every operation is shown', async () => {
    const headings = new Set((await page.getByRole('heading').allTextContents()).map((text) => text.trim()));
    return operations.every(({ summary }) => headings.has(summary));
  });
  const scrollWidth = () => page.evaluate('document.documentElement.scrollWidth');
  expect(await scrollWidth()).toBe(SIZES.desktop.width);
  await page.setViewportSize(SIZES.phone);
  await until('it fits on a phone', async () => (await scrollWidth()) === SIZES.phone.width);
  await page.setViewportSize(SIZES.desktop);
  expect(requested.filter((url) => !url.startsWith(folder) && !url.startsWith('data:'))).toEqual([]);
  expect(requested).toContain(`${folder}/openapi.json`);
  await page
    .getByText(/^http.*\/payments$/)
    .first()
    .waitFor();
  const path = '/v1/merchants/self/projects/self/';
  await page.locator('[role=textbox]:visible').first().click();
  // At once, as from the clipboard: each letter draws the whole page anew.
  await page.keyboard.insertText(API_KEY);
  await page.locator('button', { hasText: `(get ${path})` }).click();
  const called = page.waitForResponse(`${proxy.prefix}${path}`);
  await page.getByRole('button', { name: /^Send Request/ }).click();
  expect((await called).status()).toBe(200);
  expect(complaints).toEqual([]);
});
