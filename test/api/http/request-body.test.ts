import net from 'node:net';
import { gzipSync } from 'node:zlib';
import { setUp } from '../../support/set-up';
import { API_KEY, AUTHORIZATION, OWNER, serveTestApi } from '../../support/test-api';
import { until } from '../../support/waits';

const OTHER_KEY = API_KEY.replace('0123', '3210');
const OTHER_OWNER = { ...OWNER, project: { ...OWNER.project, id: '0190c000-0000-7000-8000-00000000dddd' } };
const DEADLINE_MS = 300;
/** Large bodies of a project that are read at a time. */
const AT_ONCE = 20;

const ORDER = '{"currency":"EUR","amount":1}';
const LARGE_ORDER = ORDER.padEnd(16_384);

const api = setUp(() =>
  serveTestApi({
    findOwner: async (api_key) => ({ [API_KEY]: OWNER, [OTHER_KEY]: OTHER_OWNER })[api_key],
    config: { API_DEADLINE_MS: DEADLINE_MS },
  }),
);

const post = async (body: RequestInit['body'], headers: Record<string, string> = {}) => {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body, duplex: 'half' };
  return await api.send('/v1/orders/', init as RequestInit);
};

/** Sends the head of a request. `send` sends of its body, `answer` has what comes back, `leave` closes the connection. */
function openRequest(...headers: string[]) {
  const socket = net.connect(api.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => (answer += String(chunk)));
  const head = ['POST /v1/orders/ HTTP/1.1', 'Host: localhost', `Authorization: ${AUTHORIZATION}`, ...headers];
  socket.write([...head, 'Content-Type: application/json', '', ''].join('\r\n'));
  return { send: (text: string) => socket.write(text), answer: () => answer, leave: () => socket.destroy() };
}

test('rules 18.7: large bodies take turns: one that comes slowly keeps its place until it is read', async () => {
  const lengths = Array<string>(AT_ONCE - 1).fill(`Content-Length: ${LARGE_ORDER.length}`);
  const held = [...lengths, `Content-Length: 50\r\nContent-Encoding: gzip`].map((length) => openRequest(length));
  try {
    await post(ORDER, { 'idempotency-key': 'k' });
    const refused = await until('all are being read', async () => {
      const response = await post(LARGE_ORDER, { 'idempotency-key': 'k' });
      return response.status !== 200 && response;
    });
    // Not 422: its body was not compared with that of the key.
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    const chunks = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(ORDER));
        controller.close();
      },
    });
    expect((await post(chunks)).status).toBe(429);
    expect((await post(gzipSync(ORDER), { 'content-encoding': 'gzip' })).status).toBe(429);
    // Neither small bodies nor other projects wait.
    expect((await post(ORDER)).status).toBe(200);
    const other = `Basic ${Buffer.from(`${OTHER_KEY}:`).toString('base64')}`;
    expect((await post(LARGE_ORDER, { authorization: other })).status).toBe(200);

    const waiting = post(LARGE_ORDER);
    held[0]!.send(LARGE_ORDER);
    expect((await waiting).status).toBe(200);
    await until('it is answered', () => held[0]!.answer().startsWith('HTTP/1.1 200 '));
  } finally {
    for (const { leave } of held) leave();
  }
});

test('rules 18.7: a client that leaves gives its place to another one, also with a compressed body', async () => {
  const held = Array.from({ length: AT_ONCE }, () => openRequest('Content-Length: 50', 'Content-Encoding: gzip'));
  await until('all are being read', async () => (await post(LARGE_ORDER)).status === 429);
  for (const { leave } of held) leave();
  await until('there is a place', async () => (await post(LARGE_ORDER)).status === 200);
});

test('rules 18.1: a large body for which the rate limit has too little until the deadline is refused', async () => {
  const slow = await serveTestApi({ config: { RATE_LIMIT_PER_SECOND: 5, API_DEADLINE_MS: DEADLINE_MS } });
  try {
    const order = { currency: 'EUR', amount: 1, x: 'x'.repeat(15 * 16_384) };
    const refused = await slow.post('/v1/orders/', order);
    expect([refused.status, refused.headers.get('retry-after'), slow.calls]).toEqual([429, '1', []]);
  } finally {
    await slow.close();
  }
});
