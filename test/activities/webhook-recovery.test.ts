import { v7 as uuidv7 } from 'uuid';
import { readWebhookRecovery, recoverSlice } from '../../activities/webhook-recovery';
import type { ActivityServices } from '../../activities/services';
import { moveOrder } from '../../src/db/orders/move-order';
import { recordAttempt } from '../../src/db/webhooks/deliveries';
import { findWebhookRecovery, insertWebhookRecovery, moveWebhookRecovery } from '../../src/db/webhooks/recoveries';
import { insertRedelivery } from '../../src/db/webhooks/stored-deliveries';
import { WEBHOOK_ATTEMPTS_MAX, type DeliveryKey } from '../../src/domain/delivery';
import { toIsoTime } from '../../src/time';
import { createTestDatabase } from '../support/database';
import { MINUTE, NOW, PROJECT } from '../support/domain';
import { aStoredOrder } from '../support/rows';
import { setUp } from '../support/set-up';

const database = setUp(() => createTestDatabase({ webhook_url: 'https://shop.example/hook' }));
const started: DeliveryKey[] = [];
/** `meanwhile`: what happens while a delivery is started. */
const services = (meanwhile = async (_started: DeliveryKey): Promise<unknown> => undefined) => {
  const start = async ({ order_id, n }: DeliveryKey) => {
    started.push({ order_id, n });
    await meanwhile({ order_id, n });
  };
  return { db: database.db, workflows: { deliveries: { start } } } as unknown as ActivityServices;
};

beforeEach(async () => {
  await database.db.raw('truncate webhook_attempts, webhook_deliveries, webhook_recoveries');
  started.splice(0);
});

/** Records the first attempt of a delivery; if it fails, the last one too. */
async function attempt(id: DeliveryKey, failure?: string): Promise<void> {
  const made = { time_limit_ms: 4_000, started: NOW, duration_ms: 10, failure };
  const { db } = database;
  if (failure === undefined) {
    await recordAttempt(db, id, { ...made, attempt: 1 }, { status: 'delivered' });
  } else {
    await recordAttempt(db, id, { ...made, attempt: 1 }, { status: 'new', next_attempt_at: NOW });
    await recordAttempt(db, id, { ...made, attempt: WEBHOOK_ATTEMPTS_MAX }, { status: 'failed' });
  }
}

/** An order whose webhooks, each of a change of its own, have failed; written `minute` minutes after NOW. */
async function aFailedOrder(minute = 0, webhooks = 1): Promise<string> {
  const order = await aStoredOrder(database.db);
  const now = NOW + minute * MINUTE;
  const { id: transaction_id } = order.transactions[0]!;
  let current = order;
  if (webhooks > 1) {
    current = await moveOrder(database.db, order, { transaction_id, to: 'pending' }, { source: 'service', now });
  }
  await moveOrder(
    database.db,
    current,
    { ended: 'cancelled', transaction_id, to: 'cancelled' },
    { source: 'merchant', now },
  );
  for (let n = 1; n <= webhooks; n += 1) await attempt({ order_id: order.id, n }, 'answered 500');
  return order.id;
}

async function aRecovery(minutes: { since?: number; until?: number } = {}): Promise<string> {
  const { since = -1, until = 60 } = minutes;
  const id = uuidv7();
  const time = { since: toIsoTime(NOW + since * MINUTE), until: toIsoTime(NOW + until * MINUTE) };
  const row = { id, project_id: PROJECT.id, ...time, request_id: uuidv7() };
  await database.db.transaction((trx) => insertWebhookRecovery(trx, row, new Date()));
  return id;
}

const slice = (recovery_id: string) => recoverSlice(services(), recovery_id, 0);
const found = async (id: string) => (await findWebhookRecovery(database.db, id))!;

test('rules 13.16: the failed webhooks of a time are sent again, oldest first, each under the event of the failed one', async () => {
  const [late, early] = [await aFailedOrder(5), await aFailedOrder(1)];
  const id = await aRecovery();
  expect(await readWebhookRecovery(services(), { recovery_id: id })).toMatchObject({ remaining: 2, sent: 0 });
  expect(await slice(id)).toBe(true);
  expect(started).toEqual([early, late].map((order_id) => ({ order_id, n: 2 })));
  const rows = await database.db('webhook_deliveries').where({ recovery_id: id }).orderBy('recovery_n');
  expect(rows.map(({ order_id, redelivery_of, status }) => [order_id, redelivery_of, status])).toEqual([
    [early, 1, 'new'],
    [late, 1, 'new'],
  ]);
  for (const one of started) await attempt(one);
  expect(await slice(id)).toBe(false);
  expect(await readWebhookRecovery(services(), { recovery_id: id })).toMatchObject({
    status: 'completed',
    remaining: 0,
    sent: 2,
    delivered: 2,
  });
});

test('rules 13.18: a recovery is read also when its webhooks cannot be counted', async () => {
  const { db } = database;
  // It is counted within a time limit, which takes a SQL transaction.
  const transaction = () => Promise.reject(new Error('timeout'));
  const uncounted = new Proxy(db, {
    get: (target, key) => (key === 'transaction' ? transaction : Reflect.get(target, key)),
  });
  const recovery_id = await aRecovery();
  const read = await readWebhookRecovery({ ...services(), db: uncounted }, { recovery_id });
  expect(read).toEqual({ status: 'running', sent: 0, delivered: 0, clock_offset_ms: 0 });
});

test('rules 13.16: of an order only the newest is sent; none if the same or a later one was received or is on its way', async () => {
  const twice = await aFailedOrder(1, 2);
  const received = await aFailedOrder(2, 2);
  await database.db('webhook_deliveries').where({ order_id: received, n: 2 }).update({ status: 'delivered' });
  const redelivered = await aFailedOrder(3);
  await database.db.transaction((trx) =>
    insertRedelivery(trx, { order_id: redelivered, n: 1 }, { now: new Date(NOW), request_id: uuidv7() }),
  );
  // A redelivery that failed too: it is sent as the same event once more.
  const failed_twice = await aFailedOrder(4);
  await aFailedRedelivery(failed_twice, 4);
  await slice(await aRecovery());
  expect(started).toEqual(
    expect.arrayContaining([
      { order_id: twice, n: 3 },
      { order_id: failed_twice, n: 3 },
    ]),
  );
  expect(started).toHaveLength(2);
  const of = async (order_id: string) =>
    (await database.db('webhook_deliveries').where({ order_id, n: 3 }).first('redelivery_of')) as unknown;
  expect([await of(twice), await of(failed_twice)]).toEqual([{ redelivery_of: 2 }, { redelivery_of: 1 }]);
});

/** A redelivery of the first event of an order, written `minute` minutes after NOW, that has failed. */
async function aFailedRedelivery(order_id: string, minute: number): Promise<void> {
  const made = { now: new Date(NOW + minute * MINUTE), request_id: uuidv7() };
  const again = await database.db.transaction((trx) => insertRedelivery(trx, { order_id, n: 1 }, made));
  await attempt(again, 'answered 500');
}

test('rules 13.16: the newest event is sent, not an older one whose redelivery failed after it', async () => {
  const order_id = await aFailedOrder(1, 2);
  await aFailedRedelivery(order_id, 2);
  const id = await aRecovery();
  expect(await readWebhookRecovery(services(), { recovery_id: id })).toMatchObject({ remaining: 1 });
  await slice(id);
  expect(started).toEqual([{ order_id, n: 4 }]);
  expect(await database.db('webhook_deliveries').where({ order_id, n: 4 }).first()).toMatchObject({ redelivery_of: 2 });
});

test('rules 13.16: the older event is sent where the newer one failed before the time', async () => {
  const order_id = await aFailedOrder(1, 2);
  await aFailedRedelivery(order_id, 10);
  await slice(await aRecovery({ since: 5 }));
  expect(started).toEqual([{ order_id, n: 4 }]);
  expect(await database.db('webhook_deliveries').where({ order_id, n: 4 }).first()).toMatchObject({ redelivery_of: 1 });
});

test('rules 13.16: what was created and failed outside of the time is not sent, nor what is of another project', async () => {
  await aFailedOrder(-30);
  await aFailedOrder(90);
  const inside = await aFailedOrder(10);
  // Created before the time, its last attempt in it.
  const before = await aFailedOrder(-5);
  const id = await aRecovery({ since: -1, until: 30 });
  await database
    .db('webhook_attempts')
    .whereNot({ order_id: before })
    .update({ started: toIsoTime(NOW - 60 * MINUTE) });
  await slice(id);
  expect(started.map(({ order_id }) => order_id)).toEqual([before, inside]);
});

test('rules 13.16: a delivery that was never begun is begun, and not sent twice', async () => {
  const order = await aStoredOrder(database.db);
  await moveOrder(database.db, order, { ended: 'cancelled' }, { source: 'merchant', now: NOW });
  const long_ago = new Date(Date.now() - 10 * MINUTE);
  await database.db('webhook_deliveries').update({ next_attempt_at: long_ago, created: long_ago });
  const id = await aRecovery({ since: -10 * 365 * 24 * 60 });
  await slice(id);
  expect(started).toEqual([{ order_id: order.id, n: 1 }]);
  await slice(id);
  expect(started).toHaveLength(1);
  await attempt({ order_id: order.id, n: 1 });
  expect([await slice(id), (await found(id)).status]).toEqual([false, 'completed']);
});

test('rules 13.17: ten are sent in a second, and twenty wait for their first attempt at most', async () => {
  for (let minute = 0; minute < 25; minute += 1) await aFailedOrder(minute);
  const id = await aRecovery();
  const sent: number[] = [];
  for (let second = 1; second <= 3; second += 1) {
    await slice(id);
    sent.push(started.length);
  }
  await attempt(started[0]!);
  await slice(id);
  expect([...sent, started.length]).toEqual([10, 20, 20, 21]);
});

test('rules 13.18: five first attempts in a row that fail pause it; after it is resumed they count anew', async () => {
  for (let minute = 0; minute < 25; minute += 1) await aFailedOrder(minute);
  const id = await aRecovery();
  await slice(id);
  const fail = async (from: number, to: number) => {
    for (const one of started.slice(from, to)) await attempt(one, 'answered 500');
  };
  await fail(0, 4);
  await attempt(started[4]!);
  await fail(5, 9);
  expect(await slice(id)).toBe(true);
  await fail(9, 10);
  expect([await slice(id), (await found(id)).status, (await found(id)).paused_by]).toEqual([
    false,
    'paused',
    'failures',
  ]);
  const before = started.length;
  expect(await slice(id)).toBe(false);
  expect(started).toHaveLength(before);
  await moveWebhookRecovery(database.db, id, { to: 'running', now: new Date() });
  await slice(id);
  expect(started.length).toBeGreaterThan(before);
});

test('a stopped recovery sends nothing more; of two workers one sends a webhook', async () => {
  for (let minute = 0; minute < 3; minute += 1) await aFailedOrder(minute);
  const id = await aRecovery();
  await Promise.all([slice(id), slice(id)]);
  expect(new Set(started.map(({ order_id }) => order_id)).size).toBe(started.length);
  await moveWebhookRecovery(database.db, id, { to: 'stopped', now: new Date() });
  const before = started.length;
  expect(await slice(id)).toBe(false);
  expect(started).toHaveLength(before);
});

test('a webhook that was sent again by hand in the meantime is skipped', async () => {
  const order_id = await aFailedOrder();
  const id = await aRecovery();
  const first = await found(id);
  await database.db.transaction((trx) =>
    insertRedelivery(trx, { order_id, n: 1 }, { now: new Date(NOW), request_id: uuidv7() }),
  );
  expect(first.status).toBe('running');
  await slice(id);
  expect(started).toEqual([]);
});

test('rules 13.16: what the receiver has got since it was found is not sent', async () => {
  const [first, second] = [await aFailedOrder(1), await aFailedOrder(2)];
  const id = await aRecovery();
  const sendSecondByHand = async ({ order_id }: DeliveryKey) => {
    if (order_id !== first) return;
    const context = { now: new Date(NOW), request_id: uuidv7() };
    const by_hand = await database.db.transaction((trx) => insertRedelivery(trx, { order_id: second, n: 1 }, context));
    await attempt(by_hand);
  };
  expect(await recoverSlice(services(sendSecondByHand), id, 0)).toBe(true);
  expect(started).toEqual([{ order_id: first, n: 2 }]);
  expect(await found(id)).toMatchObject({ sent: 1 });
});
