import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkWritable } from '../../../src/db/availability';
import { connectDatabase, withDatabase } from '../../../src/db/connection';
import { queryRows, type Database } from '../../../src/db/query';
import { MIGRATIONS, migrate, type Migration } from '../../../src/db/migrate';
import { buildIndex } from '../../../src/db/build-index';
import { MIGRATION_LIMITS } from '../../../src/db/session';
import { createTestDatabase, withDatabaseName } from '../../support/database';
import { PROJECT } from '../../support/domain';
import { anAcceptedPayment } from '../../support/rows';
import { stack } from '../../support/stack';
import { until } from '../../support/waits';

const freshUrl = () => withDatabaseName(stack().postgres_url, `test_${randomBytes(6).toString('hex')}`);

test('makes the database that is missing; several at once wait for each other; again it does nothing', async () => {
  const url = freshUrl();
  await Promise.all([migrate(url), migrate(url), migrate(url)]);
  await migrate(url);
  const sql = `select count(*) as tables from pg_tables
    where schemaname = 'public' and tablename in ('orders', 'transactions', 'webhook_deliveries')`;
  expect(await withDatabase(url, (db) => queryRows(db, sql))).toEqual([{ tables: 3 }]);
});

test('one that waits for another holds no transaction open: an index that is built concurrently would wait for it', async () => {
  const { db, url, close } = await createTestDatabase();
  const other = await db.transaction();
  await other.raw('select pg_advisory_xact_lock(7264001)');
  const [asked] = await queryRows<{ at: string }>(db, 'select cast(clock_timestamp() as text) as at');
  const waiting = migrate(url);
  await until('it has asked, and ended its transaction', async () => {
    const sql = `select 1 from pg_stat_activity where datname = current_database()
      and backend_start > cast(:at as timestamptz) and state = 'idle' and query ilike 'commit%'`;
    return (await queryRows(db, sql, asked!)).length > 0;
  });
  await other.commit();
  await waiting;
  await close();
});

test('killed in the middle it left its lock behind: the next one goes on', async () => {
  const { db, url, close } = await createTestDatabase();
  await db('knex_migrations_lock').update({ is_locked: 1 });
  await expect(migrate(url)).resolves.toBeUndefined();
  await close();
});

test('rules 24.22: on the schema of a newer version it says so and changes nothing', async () => {
  const { db, url, close } = await createTestDatabase();
  await db('knex_migrations').insert({ name: '998-newer', batch: 2, migration_time: new Date() });
  const migrated = migrate(url, {
    migrations: { ...MIGRATIONS, '999-ours': { up: (knex) => knex.raw('select 1 / 0') } },
  });
  await expect(migrated).rejects.toThrow(/^The schema is of a newer version: 998-newer\.$/);
  await close();
});

test('a server that is not there is an error, at once', async () => {
  await expect(migrate('postgres://nobody@127.0.0.1:1/x')).rejects.toThrow('ECONNREFUSED');
});

test('amounts are numbers, instants are texts in UTC that keep their microseconds', async () => {
  const sql = `select 9007199254740991::bigint as amount, '2026-01-15 12:00:05.433502+02'::timestamptz as at`;
  await withDatabase(stack().postgres_url, async (db) => {
    const found = [{ amount: 9_007_199_254_740_991, at: '2026-01-15 10:00:05.433502+00' }];
    expect(await queryRows(db, sql)).toEqual(found);
    await checkWritable(db);
  });
});

describe('a migration beside the service', () => {
  const migrations = (next: Migration): Record<string, Migration> => ({ ...MIGRATIONS, '999-next': next });

  /** Resolves when a statement waits for a lock. */
  async function untilLocked(db: Database, statement: string): Promise<void> {
    const sql = `select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like :statement`;
    await until('the migration waits', async () => (await queryRows(db, sql, { statement })).length > 0);
  }

  test('rules 24.2: while a report holds its table, statements behind the migration go on, and it tries again', async () => {
    const database = await createTestDatabase();
    const report = await database.db.transaction();
    await report.raw('select count(*) from orders');
    let retries = 0;
    const migrated = migrate(database.url, {
      migrations: migrations({ up: (db) => db.raw('alter table orders add column next_release text') }),
      onRetry: () => (retries += 1),
    });
    await untilLocked(database.db, 'alter table orders%');
    // It stands in the queue behind the migration, and the report has not ended.
    await expect(queryRows(database.db, 'select count(*) from orders')).resolves.toEqual([{ count: 0 }]);
    expect(report.isCompleted()).toBe(false);
    await until('it has tried again', () => retries > 0);
    await report.commit();
    await migrated;
    await expect(queryRows(database.db, 'select next_release from orders')).resolves.toEqual([]);
    await database.close();
  });

  test('rules 24.2: it tries again when Postgres ended it for a statement that waited for it', async () => {
    const database = await createTestDatabase();
    let tries = 0;
    const up: Migration['up'] = async (db) => {
      tries += 1;
      // SQLSTATE of a deadlock.
      if (tries === 1) await db.raw(`do $$ begin raise exception 'deadlock' using errcode = '40P01'; end $$`);
    };
    await migrate(database.url, { migrations: migrations({ up }) });
    expect(tries).toBe(2);
    await database.close();
  });

  test('an index is built while a payment is being written, and one that was interrupted is built again', async () => {
    const database = await createTestDatabase();
    const { db, url } = database;
    // Two rows that a unique index refuses leave it half built.
    await db.raw(`insert into leases values ('a', 'same', now()), ('b', 'same', now())`);
    const unique = 'create unique index concurrently leases_holder on leases (holder)';
    await expect(db.raw(unique)).rejects.toThrow('could not create unique index');
    const payment = await db.transaction();
    await payment.raw(`insert into leases values ('c', 'other', now())`);
    const build: Migration = {
      config: { transaction: false },
      up: (knex) => buildIndex(knex, 'leases_holder', 'on leases (holder)'),
    };
    const migrated = migrate(url, { migrations: migrations(build) });
    await untilLocked(db, 'drop index concurrently%');
    await expect(queryRows(db, `insert into leases values ('d', 'third', now())`)).resolves.toEqual([]);
    await payment.commit();
    await migrated;
    const [index] = await queryRows<{ indisvalid: boolean; indisunique: boolean }>(
      db,
      `select indisvalid, indisunique from pg_index where indexrelid = to_regclass('leases_holder')`,
    );
    expect(index).toEqual({ indisvalid: true, indisunique: false });
    await database.close();
  });
});

/** Orders that the table has. MIGRATION_ROWS=1000000 is a run by hand, whose figures docs/operations.md has. */
const ROWS = Number(process.env['MIGRATION_ROWS'] ?? 2_000);
const ORDERS_PER_SECOND = 20;

test('rules 24.2: the second migration beside payments and an open report: no statement waits for it', async () => {
  const database = await createTestDatabase();
  const { db, url } = database;
  // As the first release has it.
  await db.raw(`drop index orders_project_completed; delete from knex_migrations where name like '%-orders-completed'`);
  // It has no time limits, as another program's reports may have none.
  const other = connectDatabase(url, { pool_max: 2, session_sql: MIGRATION_LIMITS });
  await queryRows(
    other,
    `insert into orders (id, clock_id, project_id, currency, amount, status, attempts_max, charged_by, expiration_period,
       expires_at, created, modified, completed)
     select id, id, :project_id, 'EUR', 1250, 'completed', 1, 'token', 'PT30M', at, at, at, at
     from (select gen_random_uuid() as id, timestamptz '2026-01-01' + n * interval '1 second' as at
           from generate_series(1, :rows::int) n) made`,
    { project_id: PROJECT.id, rows: ROWS },
  );
  const report = await other.transaction(undefined, { isolationLevel: 'repeatable read', readOnly: true });
  await report.raw('select id from orders order by created limit 1000');
  let [payments, longest_ms, is_over] = [0, 0, false];
  const paying = (async () => {
    while (!is_over) {
      const began = performance.now();
      await anAcceptedPayment(db);
      longest_ms = Math.max(longest_ms, performance.now() - began);
      payments += 1;
      await sleep(Math.max(0, 1_000 / ORDERS_PER_SECOND - (performance.now() - began)));
    }
  })();
  const began = performance.now();
  let retries = 0;
  const migrated = migrate(url, { onRetry: () => (retries += 1) });
  const building = `select pid from pg_stat_activity where query like 'create index concurrently%' and state = 'active'
    and datname = current_database()`;
  const behind = `select query from pg_stat_activity where pg_blocking_pids(pid) && array(${building})`;
  const waiting = new Set<string>();
  /** Looks who waits for the migration until as many payments were made meanwhile. */
  const watch = async (more: number) => {
    const enough = payments + more;
    await until('payments go on', async () => {
      for (const { query } of await queryRows<{ query: string }>(db, behind)) waiting.add(query);
      return payments >= enough;
    });
  };
  const isBuilding = async () => (await queryRows(db, `${building} and wait_event_type = 'Lock'`)).length > 0;
  await until('the build waits for the report', isBuilding, 120_000);
  await watch(ORDERS_PER_SECOND);
  expect(await isBuilding()).toBe(true);
  await report.commit();
  await Promise.all([migrated, watch(3)]);
  is_over = true;
  await paying;
  expect([[...waiting], retries]).toEqual([[], 0]);
  const [index] = await queryRows(db, `select indisvalid from pg_index where indexrelid = to_regclass(:name)`, {
    name: 'orders_project_completed',
  });
  expect(index).toEqual({ indisvalid: true });
  if (process.env['MIGRATION_ROWS'] !== undefined) {
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    process.stdout.write(
      `${ROWS} rows, ${seconds} s, ${payments} payments, the longest ${longest_ms.toFixed(0)} ms with all its statements\n`,
    );
  }
  await other.destroy();
  await database.close();
}, 600_000);
