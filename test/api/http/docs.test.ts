import http from 'node:http';
import type { AddressInfo } from 'node:net';
import document from '../../../api/openapi.json';
import { aVisitor, launchBrowser, SIZES } from '../../support/browser';
import { setUp } from '../../support/set-up';
import { API_KEY, serveTestApi } from '../../support/test-api';
import { until } from '../../support/waits';

const api = setUp(() => serveTestApi());
const browser = setUp(() => launchBrowser());
// A page that stays open goes on drawing.
afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));

test('openapi.json is the document', async () => {
  const response = await fetch(`${api.url}/docs/openapi.json`);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.text()).toBe(JSON.stringify(document));
});

test('its scripts are its own: only this server, and nothing inline', async () => {
  const response = await fetch(`${api.url}/docs/`);
  const policy = response.headers.get('content-security-policy');
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; .*connect-src 'self'; /);
  expect(policy).not.toMatch(/unsafe-eval|https?:|\*/);
  expect((await response.text()).match(/<script[^>]*>[^<]|<script(?! src=)|style=/)).toBeNull();
});

// One visit: to draw the page of all operations takes seconds of the processor.
test('shows every operation on a desktop and on a phone, from this server alone, and its console calls the API with the key that is typed in', async () => {
  const { page, complaints } = await aVisitor(browser, { size: 'desktop' });
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  await page.goto(`${api.url}/docs/`, { waitUntil: 'networkidle' });
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
  expect(requested.filter((url) => !url.startsWith(`${api.url}/docs/`) && !url.startsWith('data:'))).toEqual([]);
  const path = '/v1/merchants/self/projects/self/';
  await page.locator('[role=textbox]:visible').first().click();
  // At once, as from the clipboard: each letter draws the whole page anew.
  await page.keyboard.insertText(API_KEY);
  await page.locator('button', { hasText: `(get ${path})` }).click();
  const called = page.waitForResponse(`${api.url}${path}`);
  await page.getByRole('button', { name: /^Send Request/ }).click();
  expect((await called).status()).toBe(200);
  expect(complaints).toEqual([]);
});

test('works without the slash at its end and below a path prefix', async () => {
  const proxy = http.createServer((request, response) => {
    http.get(`${api.url}${request.url!.replace(/^\/payments/, '')}`, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { page, complaints } = await aVisitor(browser);
  const folder = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/payments/docs`;
  const asked: string[] = [];
  // Of one path: to draw the page of all operations takes seconds of the processor.
  await page.route('**/openapi.json', async (route) => {
    asked.push(route.request().url());
    await route.fulfill({ json: { ...document, paths: { '/v1/orders/': document.paths['/v1/orders/'] } } });
  });
  await page.goto(folder);
  await page
    .getByText(/^http.*\/payments$/)
    .first()
    .waitFor();
  await page.getByRole('heading', { name: 'Create an order', exact: true }).first().waitFor();
  expect(new Set(asked)).toEqual(new Set([`${folder}/openapi.json`]));
  expect(complaints).toEqual([]);
  proxy.closeAllConnections();
  proxy.close();
});
