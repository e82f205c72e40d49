import net from 'node:net';
import { Router } from 'express';
import { Webhook } from 'standardwebhooks';
import pino from 'pino';
import { processorNotifications } from '../../api/processor-notifications';
import { ServiceError } from '../../src/errors';
import type { OperationResult } from '../../src/processor/wire';
import { serveTestApi, type TestApi } from '../support/test-api';
import { until } from '../support/waits';

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const secret = secretOf(3);
/** The one that replaces it. */
const next_secret = secretOf(5);
const ORDER = '0190c000-0000-7000-8000-00000000f001';
const notification = {
  type: 'operation.updated',
  operation: {
    operation: 'sale',
    idempotency_key: 'k',
    order_id: ORDER,
    transaction_id: '0190c000-0000-7000-8000-00000000f002',
    amount: 500,
    currency: 'EUR',
    result: 'approved',
    occurred: '2026-01-15T12:00:05.000Z',
  },
};

let plumbing: TestApi;
let told: OperationResult[] = [];
let fetches = 0;
let away = false;
beforeAll(async () => {
  const processor_notifications = {
    handle: (operation: OperationResult) => {
      if (away) return Promise.reject(new ServiceError('ServiceUnavailable', 'nobody answers'));
      told.push(operation);
      return Promise.resolve();
    },
    settlementsCreated: () => {
      if (away) return Promise.reject(new ServiceError('ServiceUnavailable', 'nobody answers'));
      fetches += 1;
      return Promise.resolve();
    },
  };
  const notifications = Router().use(
    processorNotifications({
      processor_notifications,
      secrets: [secret, next_secret],
      log: pino({ level: 'silent' }),
      intake: { requireOpen: () => undefined },
    }),
  );
  plumbing = await serveTestApi({ routers: [notifications] });
});
afterAll(() => plumbing.close());
beforeEach(() => {
  told = [];
  away = false;
});

function tell(
  body: unknown,
  { key = secret, at = new Date(), headers = {} }: { key?: string; at?: Date; headers?: Record<string, string> } = {},
): Promise<Response> {
  const text = JSON.stringify(body);
  const signed = {
    'webhook-id': 'n1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(key).sign('n1', at, text),
  };
  return plumbing.send('/processor/notifications/', {
    method: 'POST',
    body: text,
    headers: { 'content-type': 'application/json', ...signed, ...headers },
  });
}

test('the workflow concerned is signalled; test/src/temporal/processor-notifications.test.ts has the effects', async () => {
  expect((await tell(notification)).status).toBe(200);
  expect(told).toEqual([notification.operation]);
});

test.each(['capture', 'void', 'refund', 'reversal', 'chargeback', 'chargeback_reversal'])(
  'a %s is news too',
  async (operation) => {
    expect(
      (await tell({ ...notification, operation: { ...notification.operation, operation, follow_up_order_id: ORDER } }))
        .status,
    ).toBe(200);
    expect(told).toMatchObject([{ operation, follow_up_order_id: ORDER }]);
  },
);

test('that there are settlements has them fetched', async () => {
  expect((await tell({ type: 'settlements.created' })).status).toBe(200);
  expect([fetches, told]).toEqual([1, []]);
});

test('rules 10.9: while a secret replaces another one, notifications signed with either are accepted', async () => {
  expect((await tell(notification, { key: next_secret })).status).toBe(200);
  expect(told).toEqual([notification.operation]);
});

test('rules 1.12: its path is case-sensitive', async () => {
  expect((await plumbing.send('/Processor/Notifications/', { method: 'POST' })).status).toBe(404);
});

test('a second notification does no harm', async () => {
  await tell(notification);
  expect((await tell(notification)).status).toBe(200);
  expect(told).toHaveLength(2);
});

test.each<[string, Parameters<typeof tell>[1]]>([
  ['signed with another key', { key: secretOf(4) }],
  ['older than five minutes', { at: new Date(Date.now() - 6 * 60_000) }],
  [
    'with the signature of another body',
    { headers: { 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` } },
  ],
  ['without a signature', { headers: { 'webhook-signature': '' } }],
])('rules 10.9: a notification %s is refused and does nothing', async (_how, options) => {
  const response = await tell(notification, options);
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ error: { type: 'Unauthorized' } });
  expect(told).toEqual([]);
});

/** The connections of notifications whose body does not come. */
const unfinished: net.Socket[] = [];
afterEach(() => {
  for (const socket of unfinished.splice(0)) socket.destroy();
});

/** Sends a notification without its body. Returns what it is answered so far. */
function tellHeadersOnly(headers: Record<string, string | number>): () => string {
  const socket = net.connect(plumbing.port, '127.0.0.1');
  unfinished.push(socket);
  const all = { Host: 'localhost', 'Content-Length': 1_000, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.write(['POST /processor/notifications/ HTTP/1.1', ...lines, '', ''].join('\r\n'));
  let answer = '';
  socket.on('data', (chunk) => (answer += String(chunk)));
  socket.on('error', () => undefined);
  return () => answer;
}
const now = () => Math.floor(Date.now() / 1_000);

test.each([
  ['its id', { 'webhook-timestamp': now(), 'webhook-signature': 'v1,x' }],
  ['its time', { 'webhook-id': 'n1', 'webhook-signature': 'v1,x' }],
  ['its signature', { 'webhook-id': 'n1', 'webhook-timestamp': now() }],
  ['a recent time', { 'webhook-id': 'n1', 'webhook-timestamp': now() - 400, 'webhook-signature': 'v1,x' }],
  ['a time that has come', { 'webhook-id': 'n1', 'webhook-timestamp': now() + 400, 'webhook-signature': 'v1,x' }],
])('rules 10.9: a notification without %s is refused before its body comes', async (_what, headers) => {
  const answer = tellHeadersOnly(headers);
  await until('it is refused', () => answer().startsWith('HTTP/1.1 401 '), 5_000);
});

test('rules 10.9: of 51 notifications at a time, the one that takes the longest is to be sent again', async () => {
  const headers = () => ({ 'webhook-id': 'n1', 'webhook-timestamp': now(), 'webhook-signature': 'v1,x' });
  const answers = Array.from({ length: 50 }, () => tellHeadersOnly(headers()));
  const refused = () => answers.map((answer) => answer()).filter((answer) => answer !== '');
  await until('there are too many', async () => {
    expect((await tell(notification)).status).toBe(200);
    return refused().length > 0;
  });
  expect(refused()[0]).toMatch(/^HTTP\/1.1 503 [^]*\r\nRetry-After: 1\r\n/);
});

test('a body that is no notification is refused, signed or not', async () => {
  expect((await tell({ type: 'operation.updated' })).status).toBe(400);
  expect((await tell([])).status).toBe(400);
  expect(told).toEqual([]);
});

test('when the order cannot be signalled the processor has to send it again', async () => {
  away = true;
  expect((await tell(notification)).status).toBe(503);
});

test('it is told by POST alone', async () => {
  const response = await plumbing.send('/processor/notifications/');
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
});
