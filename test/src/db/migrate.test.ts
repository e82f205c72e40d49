import { randomBytes } from 'node:crypto';
import { connect, ping, rows, type Database } from '../../../src/db/connection';
import { insertFollowUp } from '../../../src/db/follow-ups';
import { migrate } from '../../../src/db/migrate';
import * as orders from '../../../src/db/migrations/001-orders';
import * as idempotencyKeys from '../../../src/db/migrations/002-idempotency-keys';
import * as followUps from '../../../src/db/migrations/003-follow-ups';
import { findOrderView, moneyOf } from '../../../src/db/order-view';
import { amountDetails } from '../../../src/domain/amounts';
import { stack } from '../../support/stack';

const freshUrl = () => stack().postgres_url.replace(/\/\w+$/, `/test_${randomBytes(6).toString('hex')}`);

test('makes the database that is missing; several at once wait for each other; again it does nothing', async () => {
  const url = freshUrl();
  await Promise.all([migrate(url), migrate(url), migrate(url)]);
  await migrate(url);
  const db = connect(url, { pool_max: 1 });
  const [found] = await rows<{ tables: number }>(
    db,
    `select count(*) as tables from pg_tables where schemaname = 'public' and tablename in ('orders', 'transactions', 'webhook_deliveries')`,
    {},
  );
  await db.destroy();
  expect(found).toEqual({ tables: 3 });
});

test('killed in the middle it left its lock behind: the next one goes on', async () => {
  const url = freshUrl();
  await migrate(url);
  const db = connect(url, { pool_max: 1 });
  await db('knex_migrations_lock').update({ is_locked: 1 });
  await expect(migrate(url)).resolves.toBeUndefined();
  await db.destroy();
});

test('a server that is not there is an error, at once', async () => {
  await expect(migrate('postgres://nobody@127.0.0.1:1/x')).rejects.toThrow('ECONNREFUSED');
});

test('amounts are numbers, instants are texts in UTC that keep their microseconds', async () => {
  const db = connect(stack().postgres_url, { pool_max: 1 });
  const [row] = await rows<object>(
    db,
    `select 9007199254740991::bigint as amount, '2026-01-15 12:00:05.433502+02'::timestamptz as at`,
    {},
  );
  await ping(db);
  await db.destroy();
  expect(row).toEqual({ amount: 9_007_199_254_740_991, at: '2026-01-15 10:00:05.433502+00' });
});

describe('003-follow-ups on a database that has been used', () => {
  const ids = { merchant: '0190c000-0000-7000-8000-00000000bbbb', project: '0190c000-0000-7000-8000-00000000aaaa' };
  const id = (n: number) => `0190c000-0000-7000-8000-${String(n).padStart(12, '0')}`;

  /** What 001 and 002 could hold: a sale, an order that expired, and the reversal of its late approval. */
  async function used(): Promise<Database> {
    const url = freshUrl();
    await migrate(url);
    const db = connect(url, { pool_max: 1 });
    await db.raw('drop schema public cascade; create schema public');
    await orders.up(db);
    await idempotencyKeys.up(db);
    await db.raw(`
      insert into merchants values ('${ids.merchant}', 'Test Books', '2026-01-01');
      insert into projects (id, merchant_id, name, is_test, payment_methods, currencies, webhook_secret, created) values ('${ids.project}', '${ids.merchant}', 'p', true, '{credit-card}', '{EUR}', 's', '2026-01-01');
      insert into idempotency_keys values ('${ids.project}', 'k', '\\x00', null, null, '2026-01-01');
      insert into orders (id, project_id, kind, related_order_id, currency, amount, status, ended, attempts_max, expiration_period, expires_at, created, modified, completed) values
        ('${id(1)}', '${ids.project}', 'payment', null, 'EUR', 500, 'completed', null, 5, 'PT30M', '2026-01-02', '2026-01-01', '2026-01-01', '2026-01-01'),
        ('${id(2)}', '${ids.project}', 'payment', null, 'EUR', 700, 'expired', 'expired', 5, 'PT30M', '2026-01-02', '2026-01-01', '2026-01-01', null),
        ('${id(3)}', '${ids.project}', 'reversal', '${id(2)}', 'EUR', 700, 'completed', null, 1, null, null, '2026-01-01', '2026-01-01', '2026-01-01');
      insert into transactions (id, order_id, attempt, amount, currency, payment_method, credit_debit, transaction_type, expires_at, status, captured_amount, created, modified) values
        ('${id(11)}', '${id(1)}', 1, 500, 'EUR', 'credit-card', 'credit', null, '2026-01-02', 'accepted', 500, '2026-01-01', '2026-01-01'),
        ('${id(12)}', '${id(2)}', 1, 700, 'EUR', 'credit-card', 'credit', null, '2026-01-02', 'expired', 0, '2026-01-01', '2026-01-01'),
        ('${id(13)}', '${id(3)}', 1, 700, 'EUR', 'credit-card', 'debit', 'reversal', null, 'accepted', 0, '2026-01-01', '2026-01-01')`);
    return db;
  }

  const recordOf = async (db: Database) =>
    await rows<object>(
      db,
      `select to_jsonb(o) as o, to_jsonb(t) as t from orders o join transactions t on t.order_id = o.id order by o.id`,
      {},
    );

  test('up: what is there stays as it was and is what it was; a reversal was the service’s', async () => {
    const db = await used();
    const before = await recordOf(db);
    await followUps.up(db);
    const after = await recordOf(db);
    after.forEach((row, i) => expect(row).toMatchObject(before[i]!));
    const views = await Promise.all([1, 2, 3].map((n) => findOrderView(db, id(n))));
    const shown = views.map((order) => [
      order?.kind,
      order?.status,
      order?.follow_ups.map((one) => one.kind),
      order?.transactions.map((one) => amountDetails([moneyOf(one)], 0).refundable),
    ]);
    expect(shown).toEqual([
      ['payment', 'completed', [], [500]],
      ['payment', 'expired', ['reversal'], [0]],
      ['reversal', 'completed', [], [0]],
    ]);
    expect(await rows(db, 'select requested_by, attention from orders order by id', {})).toEqual(
      [null, null, 'service'].map((requested_by) => ({ requested_by, attention: null })),
    );
    // And what came before can be followed up now.
    const payment = { original_order_id: id(1), original_transaction_id: id(11) };
    const refund = await insertFollowUp(db, {
      ...payment,
      id: id(4),
      transaction_id: id(14),
      kind: 'refund',
      requested_by: 'merchant',
      amount: 500,
      now: 0,
    });
    await db.destroy();
    expect([refund.status, refund.amount]).toEqual(['new', 500]);
  });

  test('down, and up again: nothing of 001 and 002 is lost', async () => {
    const db = await used();
    const before = await recordOf(db);
    await followUps.up(db);
    await followUps.down(db);
    const after = await recordOf(db);
    await followUps.up(db);
    await db.destroy();
    expect(after).toEqual(before);
  });

  test('down refuses where it would have to throw away orders; nothing is changed then', async () => {
    const db = await used();
    await followUps.up(db);
    await insertFollowUp(db, {
      id: id(4),
      transaction_id: id(14),
      original_order_id: id(1),
      original_transaction_id: id(11),
      kind: 'refund',
      requested_by: 'merchant',
      now: 0,
    });
    const before = await recordOf(db);
    await expect(db.transaction((trx) => followUps.down(trx))).rejects.toThrow(/violated by some row/);
    const after = await recordOf(db);
    await db.destroy();
    expect(after).toEqual(before);
  });
});
