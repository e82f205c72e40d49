import http from 'node:http';
import { ServiceError } from '../../../src/errors';
import { ROUTES } from '../../../src/contract/routes';
import { AUTHORIZATION, servePlumbing, type Plumbing } from '../../support/plumbing';

/** POSTs whose body is optional (rules 1.10): there is none yet, so one of the routes is made so for this file. */
const route = ROUTES.createOrder as { body_optional?: boolean; body: unknown };
const { body: bodySchema } = route;

let api: Plumbing;
beforeAll(async () => {
  route.body_optional = true;
  route.body = ROUTES.createOrder.body.partial();
  api = await servePlumbing();
});
afterAll(async () => {
  delete route.body_optional;
  route.body = bodySchema;
  await api.close();
});

/** fetch always adds a length; this sends the headers given and no others. */
function post(headers: Record<string, string>, ...chunks: string[]): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      `${api.url}/v1/orders/`,
      { method: 'POST', headers: { authorization: AUTHORIZATION, ...headers } },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    if (!('content-length' in headers) && !('transfer-encoding' in headers)) request.removeHeader('transfer-encoding');
    request.on('error', reject);
    for (const chunk of chunks) request.write(chunk);
    request.end();
  });
}

test.each<[string, Record<string, string>, string[], number]>([
  ['no headers at all', {}, [], 200],
  ['Content-Length: 0', { 'content-length': '0' }, [], 200],
  [
    'Content-Length: 0 and a form type, as curl sends it',
    { 'content-length': '0', 'content-type': 'application/x-www-form-urlencoded' },
    [],
    200,
  ],
  ['JSON type and nothing', { 'content-length': '0', 'content-type': 'application/json' }, [], 200],
  ['{}', { 'content-length': '2', 'content-type': 'application/json' }, ['{}'], 200],
  ['{} without a type', { 'content-length': '2' }, ['{}'], 200],
  ['an empty chunked body', { 'transfer-encoding': 'chunked' }, [], 200],
  ['{} in chunks', { 'transfer-encoding': 'chunked', 'content-type': 'application/json' }, ['{', '}'], 200],
  ['a form', { 'content-length': '3', 'content-type': 'application/x-www-form-urlencoded' }, ['a=b'], 415],
  ['malformed JSON', { 'content-length': '1', 'content-type': 'application/json' }, ['{'], 400],
  ['a list', { 'content-length': '3', 'content-type': 'application/json' }, ['[1]'], 400],
])('an optional body: %s', async (_title, headers, chunks, status) => {
  expect(await post(headers, ...chunks)).toBe(status);
});

test('a refusal by the operation comes out as declared', async () => {
  const refusing = await servePlumbing({
    operations: {
      cancelOrder: () => Promise.reject(new ServiceError('CanNotCancelTransaction', 'It is captured.')),
    },
  });
  const response = await refusing.send('/v1/orders/1c3a9d52-6a2f-4d4b-9d5e-7a6c0f1e2b34/', { method: 'DELETE' });
  expect([response.status, await response.json()]).toEqual([
    409,
    { error: { status: 409, type: 'CanNotCancelTransaction', value: 'It is captured.' } },
  ]);
  await refusing.close();
});

test('the operation is reached neither without a key nor with a wrong body', async () => {
  api.calls.length = 0;
  await fetch(`${api.url}/v1/orders/`, { method: 'POST' });
  await api.post('/v1/orders/', { amount: 'x' });
  expect(api.calls).toEqual([]);
});
