import { errorBody } from '../../../api/http/errors';
import { errorSchema } from '../../../src/contract/error';
import { ERRORS, ServiceError, type ErrorName } from '../../../src/errors';
import { serveTestApi } from '../../support/test-api';

const ORDER = '/v1/orders/1c3a9d52-6a2f-4d4b-9d5e-7a6c0f1e2b34/';

/** What the API answers when an operation throws. */
async function answerTo(
  thrown: unknown,
  path = ORDER,
  request: RequestInit = {},
): Promise<{ response: Response; body: unknown; log: string }> {
  // oxlint-disable-next-line prefer-promise-reject-errors
  const fails = () => Promise.reject(thrown);
  const api = await serveTestApi({
    operations: { getOrder: fails, createOrder: fails, searchOrders: fails },
    config: { LOG_REQUESTS: 'none' },
  });
  const response = await api.send(path, request);
  const body: unknown = await response.json();
  await api.close();
  return { response, body, log: api.lines.join('') };
}

test.each(Object.keys(ERRORS) as ErrorName[])('rules 3.5: %s has its status, type and shape', async (name) => {
  const row: { status: number; type?: string } = ERRORS[name];
  const { response, body, log } = await answerTo(new ServiceError(name, 'Why.'));
  expect(response.status).toBe(row.status);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(body).toEqual({ error: { status: row.status, type: row.type ?? name, value: 'Why.' } });
  expect(errorSchema.safeParse(body).success).toBe(true);
  expect(response.headers.get('www-authenticate') !== null).toBe(row.status === 401);
  expect(response.headers.get('retry-after') !== null).toBe(row.status === 503 || row.status === 429);
  expect(log).toBe('');
});

test('rules 3.1: every wrong field is listed, and the first by itself', () => {
  const fields = [
    { path: 'a.b', text: 'Wrong.' },
    { path: 'c', text: 'Missing.' },
  ] as const;
  const { error } = errorBody(new ServiceError('ValidationError', 'a.b: Wrong.', fields));
  expect(error).toEqual({
    status: 400,
    type: 'ValidationError',
    value: 'a.b: Wrong.',
    property_path: 'a.b',
    property_description: 'Wrong.',
    details: fields,
  });
  expect(errorSchema.parse({ error })).toEqual({ error });
});

const silence = () =>
  Object.assign(new Error('select 1 - canceling statement due to statement timeout'), { code: '57014' });

test('a database that does not answer is ServiceUnavailable, which promises nothing, and a line of the log', async () => {
  const { response, body, log } = await answerTo(silence());
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  expect(body).toMatchObject({
    error: { type: 'ServerError', value: expect.not.stringContaining('nothing was') as string },
  });
  expect(JSON.parse(log)).toMatchObject({ msg: 'the database did not answer', err: { code: '57014' } });
});

const MAY_BE_DONE = 'The request may have been carried out';
test.each([
  ['a POST with an Idempotency-Key', '/v1/orders/', { 'idempotency-key': 'silence' }, '1', MAY_BE_DONE],
  ['a POST without one, as the card may be charged', '/v1/orders/', {}, null, MAY_BE_DONE],
  ['a search, which only reads', '/v1/search/orders/', {}, '1', 'The database did not answer.'],
])(
  'rules 3.5: whether %s may be sent again after a silent database interrupted it: Retry-After',
  async (_title, path, headers, retry_after, words) => {
    const { response, body } = await answerTo(silence(), path, {
      method: 'POST',
      body: JSON.stringify(path === '/v1/orders/' ? { currency: 'EUR', amount: 1 } : { query: '*' }),
      headers: { 'content-type': 'application/json', ...headers },
    });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, retry_after]);
    const value = words === MAY_BE_DONE ? (expect.stringContaining(words) as string) : words;
    expect(body).toMatchObject({ error: { value } });
  },
);

test.each<[string, unknown]>([
  [
    'an undeclared error',
    Object.assign(new TypeError('at secret place'), { code: 'ESECRET', body: 'card 4111111111111111' }),
  ],
  ['an error with a server status', Object.assign(new Error('secret'), { status: 502 })],
  ['a text', 'secret'],
  ['nothing', undefined],
])('rules 3.6: %s is a ServerError with a fixed text', async (_title, thrown) => {
  const { response, body, log } = await answerTo(thrown);
  expect(body).toEqual({ error: { status: 500, type: 'ServerError', value: ERRORS.ServerError.meaning } });
  expect(log).toContain(response.headers.get('x-request-id'));
  expect(log).not.toContain('4111');
});

test('its details and causes are in the log', async () => {
  const { log } = await answerTo(
    new TypeError('outer', { cause: Object.assign(new Error('inner'), { code: 'ECODE' }) }),
  );
  expect(JSON.parse(log)).toMatchObject({
    err: { type: 'TypeError', message: 'outer', cause: { message: 'inner', code: 'ECODE' } },
  });
});
