import { EXAMPLES } from '../../../src/contract/examples';
import { parseRequest } from '../../../src/contract/request';
import { MERCHANT_API, type MerchantRoutes } from '../../../src/contract/merchant-api';
import type { Route } from '../../../src/contract/routes';

const { routes } = MERCHANT_API;
const ids = Object.keys(routes) as (keyof MerchantRoutes)[];

describe.each(ids)('%s', (id) => {
  const route: Route = routes[id];
  const example: { params?: unknown; body?: unknown; answer: unknown } = EXAMPLES[id];

  test('is under /v1/ and ends with a slash', () => {
    expect(route.path).toMatch(/^\/v1\/(?:[a-z{}_-]+\/)+$/);
  });

  test('declares the parameters of its path and no others', () => {
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(route.params?.shape ?? {})).toEqual(inPath);
  });

  test('has an example that its own schemas accept', () => {
    const raw = JSON.parse(JSON.stringify({ params: example.params ?? {}, query: {}, body: example.body })) as {
      params: unknown;
      query: unknown;
      body: unknown;
    };
    expect(parseRequest(route, raw)).toEqual({
      ...(route.params && { params: example.params }),
      ...(route.query && { query: {} }),
      ...(route.body && { body: example.body }),
    });
    expect(route.output.parse(example.answer)).toEqual(example.answer);
  });
});

test('no two operations share method and path', () => {
  const addresses = ids.map((id) => `${routes[id].method} ${routes[id].path}`);
  expect(new Set(addresses).size).toBe(addresses.length);
});
