import { createHash } from 'node:crypto';
import { MERCHANT_API } from '../../../src/contract/merchant-api';
import { openApi } from '../../../src/contract/openapi';
import { ERRORS, typeOf, type ErrorName } from '../../../src/errors';
import { servePlumbing, type Plumbing } from '../../support/plumbing';

let api: Plumbing;
let page: string;
let headers: Headers;
beforeAll(async () => {
  api = await servePlumbing();
  const response = await fetch(`${api.url}/docs/`);
  headers = response.headers;
  page = await response.text();
});
afterAll(() => api.close());

test('openapi.json is the document, to the letter', async () => {
  const response = await fetch(`${api.url}/docs/openapi.json`);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.text()).toBe(JSON.stringify(openApi(MERCHANT_API)));
});

test('the page loads nothing: no scripts, no addresses, its style by digest', () => {
  expect(page).not.toMatch(/<script|<link|<img|@import|url\(|\bsrc=/);
  const style = /<style>([^]*?)<\/style>/.exec(page)?.[1] ?? '';
  expect(headers.get('content-security-policy')).toContain(
    `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  );
});

test('every link leads to a place on the page, each place is there once', () => {
  const places = [...page.matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id!);
  expect(new Set(places).size).toBe(places.length);
  const links = [...page.matchAll(/\bhref="([^"]+)"/g)].map(([, href]) => href!);
  expect(links.filter((href) => href !== '/docs/openapi.json' && !places.includes(href.slice(1)))).toEqual([]);
});

test('every operation has a call to copy, every error what to do about it', () => {
  const text = page.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  for (const [path, methods] of Object.entries(openApi(MERCHANT_API).paths)) {
    for (const operation of Object.values(methods)) expect(text).toContain(operation.summary);
    expect(text).toContain(`curl -u "$API_KEY:"`);
    expect(text).toContain(
      `"$API_URL${path.replace('{order_id}', '$ORDER_ID').replace('{transaction_id}', '$TRANSACTION_ID')}"`,
    );
  }
  for (const name of Object.keys(ERRORS) as ErrorName[]) {
    expect(text).toContain(`id="error-${typeOf(name)}-${ERRORS[name].status}"`);
    expect(text).toContain(ERRORS[name].remedy);
  }
});

test('what webhooks are is said as in the document', () => {
  const { post } = openApi(MERCHANT_API).webhooks['status_changed'] as {
    post: { description: string; parameters: { name: string }[] };
  };
  const section = /<section id="webhooks">[^]*?<\/section>/.exec(page)?.[0] ?? '';
  expect(section).toContain(post.description);
  expect(post.parameters.filter(({ name }) => !section.includes(`<code class="name">${name}</code>`))).toEqual([]);
  expect(post.parameters).toHaveLength(3);
});

test('without the slash it is the same page, so no link may depend on the slash', async () => {
  const response = await fetch(`${api.url}/docs`, { redirect: 'manual' });
  expect([response.status, await response.text()]).toEqual([200, page]);
  expect(page).not.toMatch(/href="(?![#/])/);
});
