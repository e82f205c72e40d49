import { randomUUID } from 'node:crypto';
import pino from 'pino';
import document from '../../../api/openapi.json';
import { RECORDER_LIMITS, RequestRecorder } from '../../../api/http/request-recorder';
import { queryRows } from '../../../src/db/query';
import { ServiceError } from '../../../src/errors';
import { createTestDatabase } from '../../support/database';
import { setUp } from '../../support/set-up';
import { API_PROJECT, OWNER, serveTestApi } from '../../support/test-api';
import { until } from '../../support/waits';

const database = setUp(() => createTestDatabase());
const UNKNOWN_ID = '5b0e3f5a-6c3b-4d0a-9a55-0b6f7c1d2e3f';

/** An API whose requests are recorded, quickly unless told otherwise. */
async function serve(limits: Partial<typeof RECORDER_LIMITS> = {}) {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const { db } = database;
  const recorder = new RequestRecorder({ db, log, document }, { ...RECORDER_LIMITS, every_ms: 20, ...limits });
  const refuseRefund = () => () => Promise.reject(new ServiceError('RefundError', 'Only 100 is left.'));
  const api = await serveTestApi({
    observers: [recorder.observe],
    operations: {
      refundOrder: () => Promise.resolve(refuseRefund()),
      getOrder: () => Promise.reject(new Error('a defect')),
    },
  });
  return { api, recorder, lines };
}

interface Row {
  id: string;
  operation: string;
}

const rowsOf = (...answers: Response[]) => {
  const ids = answers.map(({ headers }) => headers.get('x-request-id')!);
  return queryRows<Row>(database.db, 'select * from logged_requests where id = any(:ids) order by received, id', {
    ids,
  });
};

const post = (body: object, key?: string) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
  body: JSON.stringify(body),
});
const ORDER = { currency: 'EUR', amount: 1, description: 'Two books' };

describe('rules 25.1: the row of a request', () => {
  const common = { project_id: API_PROJECT.id, api_key_id: OWNER.api_key_id, is_repeat: false, error_type: null };
  const shop = setUp(serve, async ({ api, recorder }) => {
    await api.close();
    await recorder.close();
  });
  const recorded = async (path: string, init?: RequestInit) => {
    const answer = await shop.api.send(path, init);
    const [row] = await until('it is written', async () => {
      const rows = await rowsOf(answer);
      return rows.length > 0 && rows;
    });
    return row;
  };

  it('names the order that it created', async () => {
    const row = (await recorded('/v1/orders/', post(ORDER, 'A-1'))) as Row & { order_id: string; object_id: string };
    expect(row).toMatchObject({
      ...common,
      operation: 'createOrder',
      method: 'POST',
      path: '/v1/orders/',
      status: 200,
    });
    expect(row).toMatchObject({ idempotency_key: 'A-1', object_id: row.order_id });
  });

  it('names the payment link that it created', async () => {
    const row = await recorded('/v1/paymentlinks/', post({ ...ORDER, merchant_order_id: 'L' }));
    expect(row).toMatchObject({
      operation: 'createPaymentLink',
      payment_link_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  it('a repeat by key says so, also of a refusal, with its error', async () => {
    const path = `/v1/orders/${UNKNOWN_ID}/refunds/`;
    const refund = post({ amount: 5, description: 'x' }, 'R-1');
    const refused = { status: 400, error_type: 'RefundError', error_fields: [], order_id: UNKNOWN_ID };
    expect(await recorded(path, refund)).toMatchObject({ ...refused, is_repeat: false });
    expect(await recorded(path, refund)).toMatchObject({ ...refused, is_repeat: true, idempotency_key: 'R-1' });
    const other = await recorded(path, post({ amount: 6, description: 'x' }, 'R-1'));
    expect(other).toMatchObject({ status: 422, error_type: 'IdempotencyKeyReused', is_repeat: false });
  });

  it('names the wrong fields, and the order of the path', async () => {
    const row = await recorded(`/v1/orders/${UNKNOWN_ID}/refunds/`, post({ amount: 'much', description: 4 }));
    expect(row).toMatchObject({
      order_id: UNKNOWN_ID,
      status: 400,
      error_type: 'ValidationError',
      error_fields: ['amount', 'description'],
    });
  });

  it('of a webhook its number, of a capture its transaction', async () => {
    const redelivery = await recorded(`/v1/orders/${UNKNOWN_ID}/webhooks/2/redeliver/`, { method: 'POST' });
    expect(redelivery).toMatchObject({ order_id: UNKNOWN_ID, n: 2, object_id: null, status: 201 });
    const capture = `/v1/orders/${UNKNOWN_ID}/transactions/${API_PROJECT.id}/captures/`;
    expect(await recorded(capture, { method: 'POST' })).toMatchObject({ transaction_id: API_PROJECT.id });
  });

  it('a defect is a ServerError', async () => {
    const row = await recorded(`/v1/orders/${UNKNOWN_ID}/`);
    expect(row).toMatchObject({ operation: 'getOrder', status: 500, error_type: 'ServerError', error_fields: [] });
  });

  it('rules 25.2: holds no text of the client but its key: no value, no header, no name that it made up', async () => {
    const row = await recorded('/v1/orders/?secretparam=secretvalue', {
      headers: { 'user-agent': 'secretagent', cookie: 'secretcookie' },
    });
    expect(row).toMatchObject({ error_type: 'ValidationError', error_fields: [] });
    const body = { ...ORDER, extra: { secretname: 1 }, webhook_url: 'secretaddress', client: { secret: '\u0000' } };
    const created = await recorded('/v1/orders/', post(body));
    expect(created).toMatchObject({ status: 400, error_fields: expect.arrayContaining(['webhook_url', 'client']) });
    const inPath = await recorded('/v1/orders/secretid/');
    expect(inPath).toMatchObject({ path: '/v1/orders/{order_id}/', order_id: null, error_fields: ['order_id'] });
    const all = await queryRows<{ line: string }>(database.db, 'select r::text as line from logged_requests r');
    expect(all.map(({ line }) => line).join('\n')).not.toMatch(/secret|books/);
  });

  it('rules 25.2: reads of the log, strangers and paths that do not exist have none', async () => {
    const others = [
      await shop.api.send('/v1/requests/'),
      await shop.api.send(`/v1/requests/${UNKNOWN_ID}/`),
      await shop.api.send(`/v1/orders/${UNKNOWN_ID}/requests/?limit=x`),
      await shop.api.send('/v1/nothing/'),
      await fetch(`${shop.api.url}/v1/orders/`, { headers: { authorization: 'Basic eDo=' } }),
    ];
    expect(others.map(({ status }) => status)).toEqual([200, 200, 400, 404, 401]);
    await recorded('/v1/orders/');
    expect(await rowsOf(...others)).toEqual([]);
  });
});

test('rules 25.4: beyond the limit requests are lost, counted and reported; the others are written', async () => {
  const { api, recorder, lines } = await serve({ waiting: 3, batch: 2, every_ms: 60_000 });
  const answers = [];
  for (let n = 0; n < 5; n += 1) answers.push(await api.send('/v1/orders/'));
  await until('all are observed', () => recorder.lost === 2);
  expect(recorder.waiting).toBe(3);
  await api.close();
  await recorder.close();
  expect([recorder.waiting, recorder.lost]).toEqual([0, 2]);
  expect((await rowsOf(...answers)).map(({ id }) => id)).toHaveLength(3);
  const reports = lines.map((line) => JSON.parse(line) as object).filter((line) => 'requests' in line);
  expect(reports).toMatchObject([{ requests: 2, msg: 'requests are missing in the request log' }]);
});

test('rules 25.2: of the refused requests of a project ten a second have a row, and all others', async () => {
  jest.useFakeTimers();
  const log = pino({ enabled: false });
  const limits = { ...RECORDER_LIMITS, every_ms: 60_000 };
  const recorder = new RequestRecorder({ db: database.db, log, document }, limits);
  const observe = (count: number, project_id: string, type?: 'TooManyRequests') => {
    for (let n = 0; n < count; n += 1) {
      recorder.observe({
        request_id: randomUUID(),
        fields: { operation: 'listOrders', project_id, api_key_id: 'x' },
        method: 'GET',
        status: type === undefined ? 200 : 429,
        error: type && { status: 429, type, value: 'More than 100 requests a second.' },
        received_at: 0,
        ms: 1,
        waited_ms: 0,
        was_sent: true,
        is_repeat: false,
      });
    }
    return [recorder.waiting, recorder.refused];
  };
  const [busy, other] = [randomUUID(), randomUUID()];
  expect(observe(25, busy, 'TooManyRequests')).toEqual([10, 15]);
  expect(observe(25, busy)).toEqual([35, 15]);
  expect(observe(3, other, 'TooManyRequests')).toEqual([38, 15]);
  jest.advanceTimersByTime(1_000);
  expect(observe(11, busy, 'TooManyRequests')).toEqual([48, 16]);
  jest.useRealTimers();
  await recorder.close();
  expect(recorder.lost).toBe(0);
});

test('rules 25.4: many requests are few statements', async () => {
  const { api, recorder } = await serve({ every_ms: 60_000 });
  const answers = await Promise.all(Array.from({ length: 40 }, () => api.send('/v1/orders/')));
  await until('all are observed', () => recorder.waiting === 40);
  await api.close();
  database.forget();
  await recorder.close();
  expect(database.statements).toHaveLength(1);
  expect(await rowsOf(...answers)).toHaveLength(40);
});

test('rules 25.4: rows that Postgres refuses do not hold up later ones', async () => {
  const { api, recorder, lines } = await serve();
  recorder.observe({
    request_id: 'no uuid',
    fields: { operation: 'listOrders', project_id: randomUUID(), api_key_id: 'x' },
    method: 'GET',
    status: 200,
    received_at: 0,
    ms: 1,
    waited_ms: 0,
    was_sent: true,
    is_repeat: false,
  });
  await until('it is lost', () => recorder.lost === 1);
  const answer = await api.send('/v1/orders/');
  await until('the next is written', async () => (await rowsOf(answer)).length === 1);
  expect(lines.join('')).toContain('the request log could not be written');
  await api.close();
  await recorder.close();
});

test('rules 25.4: while Postgres ends connections or does not answer the rows wait, and are written later', async () => {
  const { api, recorder } = await serve();
  database.forget();
  const holder = await database.db.transaction();
  await holder.raw('lock table logged_requests in access exclusive mode');
  const answer = await api.send('/v1/orders/');
  const end = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until('its connection is ended', async () => (await queryRows(database.db, end)).length === 1);
  // Then the session's lock_timeout ends each try: a third one means that two have failed.
  const tries = () => database.statements.filter((sql) => sql.startsWith('insert into logged_requests')).length;
  await until('it is tried again', () => tries() === 3);
  expect([recorder.waiting, recorder.lost]).toEqual([1, 0]);
  await holder.rollback();
  await until('it is written', async () => (await rowsOf(answer)).length === 1);
  await until('none waits', () => recorder.waiting === 0);
  expect(recorder.lost).toBe(0);
  await api.close();
  await recorder.close();
});
