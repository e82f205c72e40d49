import { MANAGE_API } from '../../../src/contract/manage/manage-api';
import { MERCHANT_API } from '../../../src/contract/merchant-api';
import { parseRequest } from '../../../src/contract/request';
import { successOf, type RouteSet } from '../../../src/contract/routes';

const APIS: RouteSet[] = [MERCHANT_API, MANAGE_API];
const entries = APIS.flatMap(({ routes, examples }) =>
  Object.entries(routes).map(([id, route]) => ({ id, route, example: examples[id]! })),
);

describe.each(entries)('$id', ({ route, ...rest }) => {
  const example: { params?: unknown; body?: unknown; answer: unknown } = rest.example;

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
      // Defaults of a page.
      ...(route.query && { query: route.query.parse({}) }),
      ...(route.body && { body: example.body }),
    });
    expect(route.output.parse(example.answer)).toEqual(example.answer);
  });
});

test('rules 1.11 and 21.1: 201 makes an object that is no order, 204 has no body, all else is 200', () => {
  const withStatus = (status: number) => entries.flatMap(({ id, route }) => (successOf(route) === status ? [id] : []));
  expect(withStatus(201).toSorted()).toEqual([
    ...['createApiKey', 'createClient', 'createMerchant', 'createPaymentLink', 'createProject'],
    ...['createReceiverCheck', 'eraseCustomer', 'recoverWebhooks', 'recoverWebhooks', 'redeliver'],
    ...['redeliverOrderWebhook', 'rollApiKey'],
  ]);
  expect(withStatus(204).toSorted()).toEqual(['revokeApiKey', 'revokeClient']);
  expect(withStatus(200)).toHaveLength(entries.length - 14);
});

test.each(APIS)('no two operations of the $name share method and path', ({ routes }) => {
  const addresses = Object.values(routes).map(({ method, path }) => `${method} ${path}`);
  expect(new Set(addresses).size).toBe(addresses.length);
});
