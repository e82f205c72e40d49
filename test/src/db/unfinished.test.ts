import { Client } from 'pg';
import { rows } from '../../../src/db/connection';
import { insertFollowUp } from '../../../src/db/follow-ups';
import { insertTransaction } from '../../../src/db/insert-order';
import { moveOrder } from '../../../src/db/move-order';
import { LIMIT, unfinishedFollowUps, unfinishedOrders, overdueDeliveries } from '../../../src/db/unfinished';
import type { FollowUpKind } from '../../../src/domain/follow-up';
import type { OrderRecord } from '../../../src/domain/order-record';
import type { OrderStatus, TransactionStatus } from '../../../src/domain/transitions';
import { NOW, aStoredOrder, aTransaction } from '../../support/builders';
import { PROJECT, aDatabase, type TestDatabase } from '../../support/database';
import { CAPTURE_END, aFollowUp, aSettledFollowUp, anAcceptedPayment, answerFollowUp } from '../../support/payments';
import { BY_TOKEN } from '../../support/orders';

/** Rows whose workflow may be lost, modified at NOW. */
let database: TestDatabase;
beforeAll(async () => {
  database = await aDatabase({ webhook_url: 'https://shop.example/hook' });
});
afterAll(() => database.close());
/** Each test has the database to itself: a new one for each of them takes ten times as long. */
beforeEach(async () => {
  await database.db.raw('truncate orders cascade');
});

test('nothing of one test is there in the next: no table that orders lead to is forgotten', async () => {
  await anAcceptedPayment(database.db, { mode: 'manual' });
  const kept = ['knex_migrations', 'knex_migrations_lock', 'merchants', 'projects'];
  await database.db.raw('truncate orders cascade');
  const tables = await rows<{ name: string }>(
    database.db,
    `select tablename as name from pg_tables where schemaname = 'public'`,
    {},
  );
  const left: string[] = [];
  for (const { name } of tables) {
    if ((await rows(database.db, `select 1 from "${name}" limit 1`, {})).length > 0) left.push(name);
  }
  expect(left.toSorted()).toEqual(kept.toSorted());
});

const LATER = NOW + 1;
const followUps = async (before = LATER) =>
  (await unfinishedFollowUps(database.db, before)).map(({ id: order_id }) => order_id);
const orders = async (before = LATER, since = 0) =>
  (await unfinishedOrders(database.db, { since, before })).map(({ order_id }) => order_id);
const deliveries = async (before = LATER) =>
  (await overdueDeliveries(database.db, before)).map(({ order_id, n }) => `${order_id} ${n}`);

const by = { source: 'processor', now: NOW } as const;
/** Moves the order's present attempt along these statuses. */
async function along(order: OrderRecord, ...statuses: TransactionStatus[]): Promise<OrderRecord> {
  let present = order;
  for (const to of statuses) {
    present = await moveOrder(database.db, present, { transaction_id: present.transactions.at(-1)!.id, to }, by);
  }
  return present;
}
const attempted = async (...statuses: TransactionStatus[]) => await along(await aStoredOrder(database.db), ...statuses);

describe('unfinishedOrders', () => {
  test.each<[string, () => Promise<OrderRecord>]>([
    ['its customer is at the issuer', () => attempted('pending')],
    ['its outcome is not known', () => attempted('processing')],
    ['declined, with attempts left', () => attempted('error')],
    [
      'a further attempt after a decline',
      async () => {
        const declined = await attempted('error');
        return await insertTransaction(database.db, declined, aTransaction(declined.id, { attempt: 2 }), {
          created: NOW,
          expires_at: LATER,
        });
      },
    ],
    ['charged at once, and nobody knows what came of it', () => aStoredOrder(database.db, BY_TOKEN)],
    ['money is held', () => anAcceptedPayment(database.db, { mode: 'manual' })],
    ['held, to be captured at the end', () => anAcceptedPayment(database.db, { mode: 'delayed' })],
    [
      'some of it is still held',
      async () => {
        const payment = await anAcceptedPayment(database.db, { mode: 'manual' });
        await aSettledFollowUp(database.db, payment, { kind: 'capture', amount: 60 });
        await aSettledFollowUp(database.db, payment, { kind: 'void', amount: 39 });
        return payment;
      },
    ],
    [
      'all of it is asked for, and not answered',
      async () => {
        const payment = await anAcceptedPayment(database.db, { mode: 'manual' });
        await insertFollowUp(database.db, aFollowUp(payment, { kind: 'capture' }));
        return payment;
      },
    ],
  ])('%s', async (_title, make) => {
    const { id: order_id } = await make();
    expect(await orders()).toEqual([order_id]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['waits to be paid', () => aStoredOrder(database.db, { transaction: false })],
    ['waits to be paid, with an announced transaction', () => aStoredOrder(database.db)],
    ['was paid', () => anAcceptedPayment(database.db)],
    ['was declined for good', async () => await along(await aStoredOrder(database.db, BY_TOKEN), 'error')],
    [
      'was cancelled',
      async () => await moveOrder(database.db, await aStoredOrder(database.db), { ended: 'cancelled' }, by),
    ],
    [
      'expired at the issuer',
      async () => await moveOrder(database.db, await attempted('pending'), { ended: 'expired' }, by),
    ],
    [
      'was captured',
      async () =>
        await aSettledFollowUp(database.db, await anAcceptedPayment(database.db, { mode: 'manual' }), {
          kind: 'capture',
        }),
    ],
    [
      'was voided',
      async () =>
        await aSettledFollowUp(database.db, await anAcceptedPayment(database.db, { mode: 'manual' }), { kind: 'void' }),
    ],
    [
      'a refund is open',
      async () =>
        await insertFollowUp(database.db, aFollowUp(await anAcceptedPayment(database.db), { kind: 'refund' })),
    ],
  ])('not one that %s', async (_title, make) => {
    await make();
    expect(await orders()).toEqual([]);
  });

  test('touched in the period: its beginning is inside, its end is not', async () => {
    const ids = [
      (await attempted('pending')).id,
      (await anAcceptedPayment(database.db, { mode: 'manual' })).id,
    ].toSorted();
    expect([await orders(NOW), await orders(LATER, LATER), (await orders(LATER, NOW)).toSorted()]).toEqual([
      [],
      [],
      ids,
    ]);
  });

  test('whose outcome stays out: once an hour, as somebody may have taken its workflow away; not those at the issuer, whose time ends', async () => {
    const { id: order_id } = await attempted('processing');
    await attempted('pending');
    const [minute, hour] = [60_000, 3_600_000];
    const found: number[] = [];
    for (let at = NOW + minute; at < NOW + 3 * hour; at += minute) {
      if ((await orders(at + minute, at)).includes(order_id)) found.push((at - NOW) / minute);
    }
    // After 30 minutes the time for paying is over.
    expect(found).toEqual([30, 60, 120]);
    expect(await orders(NOW + 2 * minute, NOW + minute)).toEqual([]);
  });

  test.each<[string, () => Promise<OrderRecord>, (order: OrderRecord) => number]>([
    [
      'that for paying, though nobody tried to',
      () => aStoredOrder(database.db, { transaction: false }),
      ({ expires_at: order_end }) => order_end,
    ],
    ['that for capturing', () => anAcceptedPayment(database.db, { mode: 'manual' }), () => CAPTURE_END],
  ])('whose time ended in the period, %s: once, whenever it was touched', async (_title, make, endOf) => {
    const order = await make();
    const end = endOf(order);
    expect([await orders(end, LATER), await orders(end + 1, LATER), await orders(end + 2, end + 1)]).toEqual([
      [],
      [order.id],
      [],
    ]);
  });

  test('a window that ended long ago is nobody’s any more', async () => {
    const { id: order_id } = await anAcceptedPayment(database.db, { mode: 'manual' });
    const day = 24 * 60 * 60_000;
    expect([await orders(CAPTURE_END + 29 * day), await orders(CAPTURE_END + 31 * day)]).toEqual([[order_id], []]);
  });

  test('no more than one round looks after, those touched first', async () => {
    await manyOrders(LIMIT + 10);
    const found = await unfinishedOrders(database.db, { since: 0, before: NOW + LIMIT * 2 });
    expect([found.length, Date.parse(found[0]!.touched), Date.parse(found.at(-1)!.touched)]).toEqual([
      LIMIT,
      NOW + 1,
      NOW + LIMIT,
    ]);
  });
});

describe('unfinishedFollowUps', () => {
  const payment = (kind: FollowUpKind) =>
    anAcceptedPayment(database.db, { mode: kind === 'capture' || kind === 'void' ? 'manual' : 'sale' });

  test.each(['capture', 'void', 'refund', 'reversal'] as const)(
    '%s: while it is new or processing, with all that its workflow needs',
    async (kind) => {
      const original = await payment(kind);
      const follow_up = aFollowUp(original, {
        kind,
        amount: 40,
        requested_by: kind === 'reversal' ? 'service' : 'merchant',
      });
      const order = await insertFollowUp(database.db, follow_up);
      const { requested_by, original_order_id, original_transaction_id } = follow_up;
      const expected = [
        {
          id: follow_up.id,
          project_id: PROJECT.id,
          kind,
          requested_by,
          amount: 40,
          original_order_id,
          original_transaction_id,
        },
      ];
      expect([await followUps(NOW), await unfinishedFollowUps(database.db, LATER)]).toEqual([[], expected]);
      const asked = await answerFollowUp(database.db, follow_up, order, 'processing', NOW + 1_000);
      expect([await followUps(NOW + 1_000), await followUps(NOW + 1_001)]).toEqual([[], [follow_up.id]]);
      await answerFollowUp(database.db, follow_up, asked, 'approved', NOW + 2_000);
      expect(await followUps(NOW + 9_000)).toEqual([]);
    },
  );

  test('not what the processor did of itself: its workflow records it, and was told durably', async () => {
    await insertFollowUp(database.db, aFollowUp(await payment('chargeback'), { kind: 'chargeback' }));
    expect(await followUps()).toEqual([]);
  });

  test('no payment order', async () => {
    await attempted('processing');
    expect(await followUps()).toEqual([]);
  });
});

describe('overdueDeliveries', () => {
  const next = (order_id: string, n: number, next_attempt_at: number) =>
    database
      .db('webhook_deliveries')
      .where({ order_id, n })
      .update({ next_attempt_at: new Date(next_attempt_at) });

  test('those whose next attempt was due, the longest overdue first', async () => {
    const { id: order_id } = await attempted('pending', 'accepted');
    expect([await deliveries(NOW), await deliveries()]).toEqual([[], [`${order_id} 1`, `${order_id} 2`]]);
    await next(order_id, 1, NOW + 120_000);
    expect(await deliveries()).toEqual([`${order_id} 2`]);
    expect(await deliveries(NOW + 120_001)).toEqual([`${order_id} 2`, `${order_id} 1`]);
  });

  test.each(['delivered', 'failed'])('not one that is %s', async (status) => {
    const { id: order_id } = await attempted('accepted');
    await database.db('webhook_deliveries').where({ order_id }).update({ status, next_attempt_at: null });
    expect(await deliveries()).toEqual([]);
  });
});

test.each<[string, () => Promise<unknown>, string[]]>([
  ['unfinishedFollowUps', () => followUps(), ['orders_follow_ups_open']],
  ['unfinishedOrders', () => orders(), ['orders_open', 'transactions_windows']],
  ['overdueDeliveries', () => deliveries(), ['webhook_deliveries_open']],
])('what is done costs %s nothing: an index of its own holds what is not', async (_title, ask, indexes) => {
  await manyOrders(3_000, 'completed');
  await database.db.raw(
    `insert into webhook_deliveries (order_id, n, url, status, created) select id, 1, 'https://shop.example/', 'delivered', created from orders`,
  );
  await attempted('processing');
  await anAcceptedPayment(database.db, { mode: 'manual' });
  await database.db.raw('analyze');
  const plan = await planOf(ask);
  for (const index of indexes) expect(plan).toContain(`"${index}"`);
  expect(plan).not.toMatch(/"Seq Scan"[^}]*"Relation Name":"(orders|webhook_deliveries)"/);
});

/** How Postgres reads what this asks for, as JSON. */
async function planOf(ask: () => Promise<unknown>): Promise<string> {
  const asked: { sql: string; bindings: unknown[] }[] = [];
  database.db.on('query', (query: { sql: string; bindings: unknown[] }) => asked.push(query));
  await ask();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows: plan } = await client.query(`explain (format json) ${asked[0]!.sql}`, asked[0]!.bindings);
  await client.end();
  return JSON.stringify(plan);
}

/** Orders that somebody has to look after, one touched in each millisecond after NOW; or as many that are done. */
async function manyOrders(count: number, status: OrderStatus = 'processing'): Promise<void> {
  await rows(
    database.db,
    `with o as (
       insert into orders (id, project_id, currency, amount, status, attempts_max, charged_by, expiration_period, expires_at, created, modified, completed)
       select gen_random_uuid(), :project_id, 'EUR', 1, :status, 5, 'customer', 'PT30M', :now, :now, :now::timestamptz + n * interval '1 millisecond', case when :status = 'completed' then :now::timestamptz end
       from generate_series(1, :count) n returning id
     )
     insert into transactions (id, order_id, attempt, amount, currency, payment_method, method_chosen_by, credit_debit, status, created, modified)
     select gen_random_uuid(), id, 1, 1, 'EUR', 'credit-card', 'customer', 'credit', case when :status = 'completed' then 'accepted' else 'pending' end, :now, :now from o`,
    { project_id: PROJECT.id, status, count, now: new Date(NOW).toISOString() },
  );
}
