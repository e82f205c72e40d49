import net from 'node:net';
import { Router } from 'express';
import { MERCHANT_API } from '../../../src/contract/merchant-api';
import { successOf } from '../../../src/contract/routes';
import { setUp } from '../../support/set-up';
import { API_KEY, API_PROJECT, AUTHORIZATION, OWNER, keysInMemory, serveTestApi } from '../../support/test-api';
import { until } from '../../support/waits';

const ORDER_ID = '1c3a9d52-6a2f-4d4b-9d5e-7a6c0f1e2b34';
const TRANSACTION_ID = '7b1f0c8e-3d5a-4e6f-8a90-1b2c3d4e5f60';
const pages = Router();
pages.get('/pay/:order_id/', (_request, response) => void response.type('html').send('<p>page</p>'));

const api = setUp(() => serveTestApi({ routers: [pages] }));
beforeEach(() => {
  api.calls.length = 0;
});

async function expectError(
  response: Response,
  status: number,
  type: string,
): Promise<{ value: string; property_path?: string }> {
  expect({ status: response.status, 'content-type': response.headers.get('content-type') }).toEqual({
    status,
    'content-type': 'application/json',
  });
  expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  const body = (await response.json()) as { error: { value: string } };
  expect(Object.keys(body)).toEqual(['error']);
  expect(body.error).toMatchObject({ status, type, value: expect.stringMatching(/\w/) as string });
  return body.error;
}

/** A request that the operation accepts. */
function bodyOf(operation: string, optional: boolean): string {
  if (optional) return '{}';
  if (operation === 'searchOrders') return '{"query":"*"}';
  if (operation.endsWith('Clock')) return '{"advance":"PT1S"}';
  if (operation === 'recoverWebhooks') return '{"since":"2026-01-15T10:00:00Z"}';
  return '{"currency":"EUR","amount":1,"description":"x","merchant_order_id":"x"}';
}

describe.each(Object.entries(MERCHANT_API.routes))('%s', (operation, route) => {
  const path = route.path
    .replace('{transaction_id}', TRANSACTION_ID)
    .replace(/\{\w+_id\}/, ORDER_ID)
    .replace('{n}', '1');
  const init = {
    method: route.method.toUpperCase(),
    ...('body' in route && {
      headers: { 'content-type': 'application/json' },
      body: bodyOf(operation, 'body_optional' in route),
    }),
  };

  test.each([
    ['with', path],
    ['without', path.slice(0, -1)],
  ])('rules 1.1 and 1.2: answers %s a slash at the end, directly', async (_title, address) => {
    const response = await api.send(address, init);
    expect(response.status).toBe(successOf(route));
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('x-powered-by')).toBeNull();
    expect(await response.json()).toEqual(expect.any(Object));
    expect(api.calls.map((call) => call.operation)).toEqual([operation]);
  });

  test('needs the API key', async () => {
    const response = await fetch(api.url + path, init);
    expect(response.headers.get('www-authenticate')).toMatch(/^Basic realm="/);
    await expectError(response, 401, 'Unauthorized');
    expect(api.calls).toEqual([]);
  });
});

describe.each([
  `/v1/orders/${ORDER_ID}/transactions/${TRANSACTION_ID}/captures/`,
  `/v1/orders/${ORDER_ID}/transactions/${TRANSACTION_ID}/voids`,
])('rules 1.10: POST %s', (path) => {
  /** What fetch would never leave out. */
  async function sent(head: string[], body: string): Promise<string> {
    const socket = net.connect(api.port, '127.0.0.1');
    socket.write(
      [
        `POST ${path} HTTP/1.1`,
        'Host: localhost',
        'Connection: close',
        `Authorization: ${AUTHORIZATION}`,
        ...head,
        '',
        body,
      ].join('\r\n'),
    );
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString().split('\r\n')[0]!;
  }

  test.each<[string, string[], string]>([
    ['neither length nor type', [], ''],
    ['a length of 0', ['Content-Length: 0'], ''],
    ['a type without a body', ['Content-Type: application/json'], ''],
    ['a type and a length of 0', ['Content-Type: application/json', 'Content-Length: 0'], ''],
    ['a foreign type and a length of 0', ['Content-Type: text/plain', 'Content-Length: 0'], ''],
    ['{}', ['Content-Type: application/json', 'Content-Length: 2'], '{}'],
    ['fields that are ignored', ['Content-Type: application/json', 'Content-Length: 11'], '{"other":1}'],
    ['an empty list, as PHP writes an empty object', ['Content-Type: application/json', 'Content-Length: 2'], '[]'],
    [
      'null, as some clients write a body that they do not have',
      ['Content-Type: application/json', 'Content-Length: 4'],
      'null',
    ],
    ['an empty chunk', ['Content-Type: application/json', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
    [
      'an empty chunk of a foreign type',
      ['Content-Type: application/x-www-form-urlencoded', 'Transfer-Encoding: chunked'],
      '0\r\n\r\n',
    ],
  ])('%s is no body', async (_title, head, body) => {
    expect(await sent(head, body)).toBe('HTTP/1.1 200 OK');
    expect(api.calls[0]?.input).toMatchObject({
      params: { order_id: ORDER_ID, transaction_id: TRANSACTION_ID },
      body: {},
    });
  });

  test('a body that is there must be an object', async () => {
    expect(await sent(['Content-Type: application/json', 'Content-Length: 3'], '[1]')).toBe('HTTP/1.1 400 Bad Request');
    // Whoever names a part must not get the whole.
    expect(await sent(['Content-Type: application/json', 'Content-Length: 12'], '{"amount":1}')).toBe(
      'HTTP/1.1 400 Bad Request',
    );
    expect(await sent(['Content-Type: application/json', 'Content-Length: 1'], '{')).toBe('HTTP/1.1 400 Bad Request');
    expect(await sent(['Content-Type: text/plain', 'Content-Length: 1'], 'x')).toBe(
      'HTTP/1.1 415 Unsupported Media Type',
    );
    expect(api.calls).toEqual([]);
  });
});

describe('what an operation receives', () => {
  test('project, deadline, request id and the parsed request', async () => {
    const before = Date.now();
    const response = await api.post('/v1/orders/', { currency: 'EUR', amount: 1, id: 'ignored' });
    const [call] = api.calls;
    expect(call?.input).toEqual({ body: { currency: 'EUR', amount: 1 } });
    expect(call?.context.caller.project).toEqual(API_PROJECT);
    expect(call?.context.request.request_id).toBe(response.headers.get('x-request-id'));
    expect(call?.context.request.deadline_at).toBeGreaterThanOrEqual(before + 5_000);
    expect(call?.context.request.deadline_at).toBeLessThanOrEqual(Date.now() + 5_000);
    expect(call?.context.idempotency_key).toBeUndefined();
  });

  test.each([
    ['POST', '/v1/orders/', '{"currency":"EUR","amount":1}'],
    ['PUT', `/v1/orders/${ORDER_ID}/`, '{"description":"x"}'],
    ['DELETE', `/v1/orders/${ORDER_ID}/`, undefined],
  ])('the Idempotency-Key of a %s, and a refusal of a bad one', async (method, path, body) => {
    const send = (key: string) =>
      api.send(path, {
        method,
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        ...(body !== undefined && { body }),
      });
    expect((await send(`${method}-1`)).status).toBe(200);
    expect(api.calls[0]?.context).toMatchObject({
      idempotency_key: `${method}-1`,
      request: { has_idempotency_key: true, is_repeat: false },
    });
    expect((await expectError(await send('k 1'), 400, 'ValidationError')).property_path).toBe('Idempotency-Key');
  });

  test('the instant after which nothing may begin, unless a repeat could get the result', async () => {
    await api.post('/v1/orders/', { currency: 'EUR', amount: 1 });
    await api.send(`/v1/orders/${ORDER_ID}/`, { method: 'DELETE', headers: { 'idempotency-key': 'late' } });
    const [without, withKey] = api.calls.map(({ context }) => context.request);
    expect(without).toMatchObject({ has_idempotency_key: false, begin_before: expect.any(Number) as number });
    expect(without!.begin_before).toBeLessThan(without!.deadline_at);
    expect(withKey).toMatchObject({ has_idempotency_key: true });
    expect(withKey!.begin_before).toBeUndefined();
  });

  test.each([
    ['that is no JSON', '{'],
    ['that is no order', '{"currency":"EUR"}'],
    ['that is too large', `"${'x'.repeat(300_000)}"`],
  ])('a body %s: 400 or 413 with a key of its own, 422 with one that another request has', async (_title, body) => {
    const post = (key: string, body: string) =>
      api.send('/v1/orders/', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body,
      });
    const order = '{"currency":"EUR","amount":1}';
    expect((await post('taken', order)).status).toBe(200);
    await expectError(await post('taken', body), 422, 'IdempotencyKeyReused');
    const own = `of-${body.length}`;
    expect([400, 413]).toContain((await post(own, body)).status);
    // It has claimed nothing.
    expect((await post(own, order)).status).toBe(200);
  });

  test('a POST without Idempotency-Key looks no key up; a repeat with one gets the first answer', async () => {
    const asked: string[] = [];
    const memory = keysInMemory();
    const keys = { ...memory, find: (key: string) => (asked.push(key), memory.find(key)) };
    const watched = await serveTestApi({ keys });
    await watched.post('/v1/orders/', { currency: 'EUR', amount: 1 });
    expect(asked).toEqual([]);
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
      body: '{"currency":"EUR","amount":1}',
    };
    const [first, again] = [await watched.send('/v1/orders/', init), await watched.send('/v1/orders/', init)];
    expect([again.status, await again.json()]).toEqual([first.status, await first.json()]);
    expect([watched.calls.length, asked]).toEqual([2, ['k', 'k']]);
    await watched.close();
  });

  test('a change that is repeated with its key is answered with the ETag of the first answer', async () => {
    const init = { method: 'DELETE', headers: { 'idempotency-key': 'etag' } };
    const path = `/v1/orders/${ORDER_ID}/`;
    const etags = [await api.send(path, init), await api.send(path, init)].map(({ headers }) => headers.get('etag'));
    expect([etags, api.calls.length]).toEqual([['"3"', '"3"'], 1]);
  });

  test('the id of a path in lower case', async () => {
    await api.send(`/v1/orders/${ORDER_ID.toUpperCase()}/`);
    expect(api.calls[0]?.input).toEqual({ params: { order_id: ORDER_ID }, query: {} });
  });
});

describe('the version of an order', () => {
  const path = `/v1/orders/${ORDER_ID}/`;

  test('rules 11.8: every answer that shows the order of its path has its ETag', async () => {
    const put = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{}' };
    for (const init of [{}, { method: 'HEAD' }, put, { method: 'DELETE' }]) {
      expect((await api.send(path, init)).headers.get('etag')).toBe('"3"');
    }
    expect((await api.post('/v1/orders/', { currency: 'EUR', amount: 1 })).headers.get('etag')).toBeNull();
  });

  test('who has it already gets 304 without a body', async () => {
    const response = await api.send(path, { headers: { 'if-none-match': '"2", "3"' } });
    expect([
      response.status,
      response.headers.get('etag'),
      response.headers.get('cache-control'),
      await response.text(),
    ]).toEqual([304, '"3"', 'no-store', '']);
    expect((await api.send(path, { headers: { 'if-none-match': '"2"' } })).status).toBe(200);
  });

  test('an operation that changes the order of its path gets the versions of If-Match, others do not', async () => {
    await api.send(path, { method: 'DELETE', headers: { 'if-match': '"2", "3"' } });
    await api.send(path, { headers: { 'if-match': '"2"' } });
    expect(api.calls.map(({ context }) => context.request.versions)).toEqual([[2, 3], undefined]);
  });
});

describe('wrong requests', () => {
  test.each([
    ['an unknown path', 'GET', '/v1/nothing/'],
    ['another version', 'GET', `/v2/orders/${ORDER_ID}/`],
    ['capital letters in a path', 'GET', `/v1/Orders/${ORDER_ID}/`],
    ['two slashes at the end', 'GET', `/v1/orders/${ORDER_ID}//`],
    ['something below an order', 'GET', `/v1/orders/${ORDER_ID}/nothing/`],
    ['an encoded slash', 'GET', '/v1%2Forders/'],
    ['a POST to nowhere', 'POST', '/nothing'],
    ['a path of dots', 'GET', '/docs/..%2f..%2fpackage.json'],
  ])('%s: 404 as JSON', async (_title, method, path) => {
    await expectError(await api.send(path, { method }), 404, 'NotFound');
  });

  test.each([
    ['PUT', '/v1/orders/', 'POST, GET, HEAD, OPTIONS'],
    ['DELETE', '/v1/orders', 'POST, GET, HEAD, OPTIONS'],
    ['PATCH', `/v1/orders/${ORDER_ID}/`, 'GET, HEAD, PUT, DELETE, OPTIONS'],
    ['POST', '/v1/merchants/self/projects/self/', 'GET, HEAD, OPTIONS'],
    ['POST', '/health/live', 'GET, HEAD, OPTIONS'],
    ['DELETE', '/', 'GET, HEAD, OPTIONS'],
    ['POST', '/docs/', 'GET, HEAD, OPTIONS'],
    ['PUT', '/docs/openapi.json', 'GET, HEAD, OPTIONS'],
  ])('%s %s: 405, allowed are %s', async (method, path, allow) => {
    const response = await api.send(path, { method });
    expect(response.headers.get('allow')).toBe(allow);
    await expectError(response, 405, 'MethodNotAllowed');
  });

  test.each([
    ['%', 'a lone percent sign'],
    ['%zz', 'no hexadecimal digits'],
    ['%E0%A4%A', 'half a character'],
    ['not-a-uuid', 'no uuid'],
    ['4111111111111111', 'a card number'],
  ])('/v1/orders/%s/ (%s): 400', async (id) => {
    const error = await expectError(await api.send(`/v1/orders/${id}/`), 400, 'ValidationError');
    expect(JSON.stringify(error)).not.toMatch('4111');
  });

  test.each([
    ['text that is no JSON', '{"currency":'],
    ['nothing but spaces', '   '],
    ['a list', '[]'],
    ['a text', '"x"'],
    ['null', 'null'],
    ['a second value', '{}{}'],
    ['100,000 brackets', '['.repeat(100_000)],
    ['rules 1.14: a byte that is not UTF-8 in a name', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x7d])],
    ['a text in another encoding', Buffer.from('{"currency":"EUR","amount":1,"description":"Café"}', 'latin1')],
  ])('a body of %s: ValidationError', async (_title, body) => {
    const response = await api.send('/v1/orders/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const { value } = await expectError(response, 400, 'ValidationError');
    expect(value).not.toMatch(/\[\[|currency":/);
  });

  test('rules 3.8: JSON that is not valid: the character where it stops being so, and nothing of the body', async () => {
    const response = await api.send('/v1/orders/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"amount": 1,}',
    });
    const { value } = await expectError(response, 400, 'ValidationError');
    expect(value).toBe('The body is not valid JSON at character 14.');
  });

  test.each([
    ['an unknown path', 'POST', '/v1/nothing/', 404],
    ['a method that the path does not have', 'PUT', '/v1/orders/', 405],
    ['a body that is no JSON', 'POST', '/v1/orders/', 401],
    ['a body of another type', 'POST', '/v1/orders/', 401],
  ])('rules 1.12: %s without a key: %s %s is %i', async (title, method, path, status) => {
    const type = title.endsWith('type') ? 'text/plain' : 'application/json';
    const response = await fetch(api.url + path, { method, headers: { 'content-type': type }, body: '{' });
    expect(response.status).toBe(status);
  });

  test('no body where one is needed: ValidationError', async () => {
    await expectError(await api.send('/v1/orders/', { method: 'POST' }), 400, 'ValidationError');
  });

  test('the first bad field is named', async () => {
    const error = await expectError(
      await api.post('/v1/orders/', { currency: 'EUR', amount: 'x' }),
      400,
      'ValidationError',
    );
    expect(error).toMatchObject({
      property_path: 'amount',
      property_description: expect.stringMatching(/number/) as string,
    });
  });

  test('rules 18.2: a body of 256 KiB is read, one byte more is too large', async () => {
    const body = (bytes: number) => `{"currency":"EUR","amount":1,"x":"${'x'.repeat(bytes - 36)}"}`;
    const send = (bytes: number) =>
      api.send('/v1/orders/', { method: 'POST', headers: { 'content-type': 'application/json' }, body: body(bytes) });
    expect(body(262_144).length).toBe(262_144);
    expect((await send(262_144)).status).toBe(200);
    const { value } = await expectError(await send(262_145), 413, 'PayloadTooLarge');
    expect(value).toBe('The body is larger than 256 KiB.');
  });

  test('a body without announced length is measured too', async () => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('"'.padEnd(300_000, 'x')));
        controller.close();
      },
    });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' };
    await expectError(await api.send('/v1/orders/', init as RequestInit), 413, 'PayloadTooLarge');
  });

  test.each([
    ['order', '/v1/orders/', '"currency": "EUR"}'],
    ['search', '/v1/search/orders/', '"query": "*"}'],
  ])('rules 2.6 and 21.10: the %s whose key was revoked while its body came is refused', async (_what, path, rest) => {
    let owner: typeof OWNER | undefined = OWNER;
    let looked = 0;
    const own = await serveTestApi({ findOwner: () => Promise.resolve(((looked += 1), owner)) });
    try {
      const body = new ReadableStream({
        async start(controller) {
          controller.enqueue(new TextEncoder().encode('{"amount": 100, '));
          await until('the key is looked up', () => looked > 0);
          owner = undefined;
          controller.enqueue(new TextEncoder().encode(rest));
          controller.close();
        },
      });
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' };
      await expectError(await own.send(path, init as RequestInit), 401, 'Unauthorized');
      expect(own.calls).toEqual([]);
    } finally {
      await own.close();
    }
  });

  test.each([
    'application/x-www-form-urlencoded',
    'text/plain',
    'application/jsonx',
    'application/json-patch+json',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
  ])('rules 1.14: Content-Type %s: 415', async (type) => {
    const response = await api.send('/v1/orders/', { method: 'POST', headers: { 'content-type': type }, body: '{}' });
    await expectError(response, 415, 'UnsupportedMediaType');
  });

  test.each([
    'application/json; charset=utf-8',
    'application/json; charset=utf8',
    'application/json;charset="UTF-8"',
    'Application/JSON',
    'application/json;x=y',
  ])('Content-Type %s is JSON', async (type) => {
    const response = await api.send('/v1/orders/', {
      method: 'POST',
      headers: { 'content-type': type },
      body: '{"currency":"EUR","amount":1}',
    });
    expect(response.status).toBe(200);
  });

  test.each([
    ['br-x', '{}', 415],
    ['gzip', 'not gzip', 400],
  ])('Content-Encoding %s with %j: %i', async (encoding, body, status) => {
    const response = await api.send('/v1/orders/', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': encoding },
      body,
    });
    await expectError(response, status, status === 415 ? 'UnsupportedMediaType' : 'ValidationError');
  });
});

describe('HEAD and OPTIONS', () => {
  test('HEAD answers as GET, without the body', async () => {
    const response = await api.send(`/v1/orders/${ORDER_ID}/`, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(100);
    expect(await response.text()).toBe('');
  });

  test('OPTIONS lists the methods, without a key', async () => {
    const response = await fetch(`${api.url}/v1/orders/${ORDER_ID}`, { method: 'OPTIONS' });
    expect([response.status, response.headers.get('allow'), await response.text()]).toEqual([
      204,
      'GET, HEAD, PUT, DELETE, OPTIONS',
      '',
    ]);
  });
});

describe('beside the API', () => {
  test('GET / leads to the documentation', async () => {
    const body = (await (await fetch(`${api.url}/`)).json()) as { documentation: string };
    const page = await fetch(api.url + body.documentation);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  });

  test('the hosted page is mounted at the root, unknown pages are JSON', async () => {
    expect(await (await fetch(`${api.url}/pay/1/`)).text()).toBe('<p>page</p>');
    await expectError(await fetch(`${api.url}/pay/`), 404, 'NotFound');
  });

  test('rules 1.13: an id from outside is not taken as request id', async () => {
    const response = await fetch(`${api.url}/`, { headers: { 'x-request-id': 'mine' } });
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([
    ['without Host', ['GET / HTTP/1.1'], 400],
    ['with two Host', ['GET / HTTP/1.1', 'Host: localhost', 'Host: elsewhere'], 400],
    [
      'with two Authorization',
      ['GET / HTTP/1.1', 'Host: localhost', `Authorization: ${AUTHORIZATION}`, 'authorization: Basic b3RoZXI6'],
      400,
    ],
    ['for a health check with two Host', ['GET /health/live HTTP/1.1', 'Host: localhost', 'Host: elsewhere'], 200],
    ['of HTTP/1.0, which needs none', ['GET / HTTP/1.0'], 200],
    ['that expects what nobody knows', ['GET / HTTP/1.1', 'Host: localhost', 'Expect: 200-ok'], 200],
  ])('rules 2.8: a request %s is answered as any other', async (_title, head, status) => {
    const socket = net.connect(api.port, '127.0.0.1');
    socket.write([...head, 'Connection: close', '', ''].join('\r\n'));
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const answer = Buffer.concat(chunks).toString();
    expect(answer).toMatch(
      new RegExp(`^HTTP/1.1 ${status} [^]*\r\nX-Request-Id: [^]*\r\nContent-Type: application/json\r\n`),
    );
  });

  test('rules 3.7: no log line holds the key', async () => {
    await api.post('/v1/orders/', { currency: 'EUR', amount: 1 });
    const log = api.lines.join('');
    expect(log).toMatch('request answered');
    expect(log).not.toMatch(API_KEY.slice(-20));
    expect(log).not.toMatch(AUTHORIZATION.slice(-20));
  });
});
