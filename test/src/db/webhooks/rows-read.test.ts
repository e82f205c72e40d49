import { v7 as uuidv7 } from 'uuid';
import { connectDatabase } from '../../../../src/db/connection';
import { queryRows, type Database } from '../../../../src/db/query';
import * as webhookProjectIndexes from '../../../../src/db/migrations/008-webhook-project-indexes';
import { insertMerchant } from '../../../../src/db/projects/merchants';
import { upsertProject } from '../../../../src/db/projects/projects';
import {
  countToRecover,
  findWebhookRecovery,
  findWebhookRecoveryState,
  insertWebhookRecovery,
  nextToRecover,
  type StoredWebhookRecovery,
} from '../../../../src/db/webhooks/recoveries';
import { listStoredDeliveries } from '../../../../src/db/webhooks/stored-deliveries';
import { WEBHOOK_ATTEMPTS_MAX } from '../../../../src/domain/delivery';
import { toIsoTime } from '../../../../src/time';
import { createTestDatabase, secrets, untilLocked } from '../../../support/database';
import { MINUTE, NOW, PROJECT } from '../../../support/domain';
import { writeOrders } from '../../../support/rows';
import { setUp } from '../../../support/set-up';
import { until } from '../../../support/waits';

const SMALL = { merchant_id: uuidv7(), id: uuidv7() };
/** Another project of the same merchant. */
const SECOND = uuidv7();
/** Failed webhooks of the large project in the time of the recovery, and as many of the small one before it. */
const MANY = 2_400;

const database = setUp(createTestDatabase);
/** Ids of the orders of the small project whose webhooks a recovery is to send: the first was written before the time. */
let few: string[];
/** Those of the second project, whose webhooks were delivered between and at the time of these. */
let delivered: string[];

beforeAll(async () => {
  const { db } = database;
  const { merchant_id, id } = SMALL;
  await insertMerchant(
    db,
    { id: merchant_id, name: 'A small shop', country: 'NL', default_currency: 'EUR' },
    new Date(0),
  );
  for (const project_id of [id, SECOND]) {
    const project = { ...PROJECT, id: project_id, name: 'Small', is_test: true };
    await upsertProject({ db, secrets }, merchant_id, project, new Date(0));
  }
  // As processes of the release before write it, which know of no project.
  await webhooks(PROJECT.id, MANY / 2, { created: 0 });
  await webhooks(PROJECT.id, MANY / 2, { created: -48 * 60 });
  await webhooks(SMALL.id, MANY, { created: -24 * 60 });
  few = [
    ...(await webhooks(SMALL.id, 1, { created: -5, attempted: 5 })),
    ...(await webhooks(SMALL.id, 2, { created: 10 })),
  ];
  delivered = [
    ...(await webhooks(SECOND, 1, { created: 0, failure: null })),
    ...(await webhooks(SECOND, 1, { created: 10, failure: null })),
  ];
  // Some that were never begun, of which another project has a few: rare in the table, and all due.
  await db.raw(
    `insert into webhook_deliveries (order_id, n, url, status, created, next_attempt_at)
     select order_id, 2, url, 'new', created, created from webhook_deliveries where project_id = ? limit 300`,
    [PROJECT.id],
  );
  await db.raw('analyze orders, webhook_deliveries, webhook_attempts');
});

/**
 * Orders whose webhooks were attempted at once, and the failed ones a last time later, so many minutes after NOW; in the
 * record alone.
 */
async function webhooks(
  project_id: string,
  orders: number,
  times: { created: number; attempted?: number; failure?: string | null },
) {
  const { created, attempted = created, failure = 'answered 500' } = times;
  const at = (minutes: number) => toIsoTime(NOW + minutes * MINUTE);
  const ids = await writeOrders(
    database.db,
    Array.from({ length: orders }, () => ({ project_id, status: 'cancelled' })),
  );
  await database.db.raw(
    `with d as (
       insert into webhook_deliveries (order_id, n, url, status, created)
       select id, 1, 'https://shop.example/hook', ?, ? from unnest(?::uuid[]) id returning order_id, n
     )
     insert into webhook_attempts (order_id, n, attempt, time_limit_ms, started, duration_ms, failure)
     select order_id, n, attempt, 4000, started::timestamptz, 10, ?
     from d, json_to_recordset(?) made(attempt int, started text)`,
    [
      ...[failure === null ? 'delivered' : 'failed', at(created), ids, failure],
      JSON.stringify([
        { attempt: 1, started: at(created) },
        ...(failure === null ? [] : [{ attempt: WEBHOOK_ATTEMPTS_MAX, started: at(attempted) }]),
      ]),
    ],
  );
  return ids;
}

/** How many rows and entries of indexes of the webhooks Postgres reads. */
async function rowsRead(read: (db: Database) => Promise<unknown>): Promise<number> {
  return await database.db.transaction(async (trx) => {
    // Counts since the session has last reported them, which it does not within a transaction.
    const count = async () => {
      const [counted] = await queryRows<{ rows: number }>(
        trx,
        `select sum(pg_stat_get_xact_tuples_returned(oid))::int as rows from pg_class
         where relname like 'webhook_deliveries%' or relname like 'webhook_attempts%'`,
      );
      return counted!.rows;
    };
    const before = await count();
    await read(trx);
    return (await count()) - before;
  });
}

test('rules 13.16: a recovery reads none that failed before the time, and none of other projects', async () => {
  const id = uuidv7();
  const time = { since: toIsoTime(NOW - MINUTE), until: toIsoTime(NOW + 60 * MINUTE) };
  await database.db.transaction((trx) =>
    insertWebhookRecovery(trx, { id, project_id: SMALL.id, ...time, request_id: uuidv7() }, new Date(NOW)),
  );
  const recovery = (await findWebhookRecovery(database.db, id))!;
  const next = (db: Database, of: StoredWebhookRecovery) =>
    nextToRecover(db, of, { now: NOW + 60 * MINUTE, limit: 10 });
  const first = await next(database.db, recovery);
  expect(first.map(({ order_id }) => order_id)).toEqual(few);
  expect(await countToRecover(database.db, recovery, NOW)).toBe(3);
  const read = [
    await rowsRead((db) => countToRecover(db, recovery, NOW)),
    await rowsRead((db) => next(db, recovery)),
    await rowsRead((db) => next(db, { ...recovery, position: first[1]!.position })),
  ];
  expect(Math.max(...read)).toBeLessThan(100);
});

const newestFirst = (ids: readonly string[]) => ids.toSorted().toReversed();

test.each([
  ['a project', { project_id: SMALL.id }, () => [...newestFirst(few.slice(1)), few[0]]],
  [
    'a merchant, of all its projects',
    { merchant_id: SMALL.merchant_id },
    () => [...newestFirst([...few.slice(1), delivered[1]!]), delivered[0], few[0]],
  ],
  [
    'a merchant, those that failed',
    { merchant_id: SMALL.merchant_id, status: 'failed' as const },
    () => [...newestFirst(few.slice(1)), few[0]],
  ],
  ['a merchant, those that are new', { merchant_id: SMALL.merchant_id, status: 'new' as const }, () => []],
  ['a merchant, those that are paused', { merchant_id: SMALL.merchant_id, status: 'paused' as const }, () => []],
])('rules 13.15: the webhooks of %s are listed page by page, those of others not read', async (_title, filter, of) => {
  const page = (db: Database, cursor?: string) => listStoredDeliveries(db, filter, { limit: 2, cursor });
  const first = await page(database.db);
  const second = await page(database.db, first.next);
  const third = await page(database.db, second.next);
  const listed = [first, second, third].flatMap(({ items }) => items);
  expect(listed.slice(0, of().length).map(({ order_id }) => order_id)).toEqual(of());
  const projects = new Map([...few, ...delivered].map((id) => [id, few.includes(id) ? SMALL.id : SECOND]));
  expect(listed.map(({ project_id }) => project_id)).toEqual(
    listed.map(({ order_id }) => projects.get(order_id) ?? SMALL.id),
  );
  const read = [await rowsRead((db) => page(db)), await rowsRead((db) => page(db, second.next))];
  expect(Math.max(...read)).toBeLessThan(100);
});

test('a merchant gets no webhooks of the project of another one', async () => {
  const filter = { merchant_id: SMALL.merchant_id, project_id: PROJECT.id };
  expect(await listStoredDeliveries(database.db, filter, { limit: 10 })).toEqual({ items: [] });
});

test('rules 24.2: a migration fills the projects of old webhooks and failed attempts; again it changes nothing', async () => {
  const { db } = database;
  const projects = async () =>
    await queryRows<{ table_name: string; project_id: string | null; count: number }>(
      db,
      `select table_name, project_id, count(*) from (
         select 'deliveries' as table_name, project_id from webhook_deliveries
         union all select 'attempts', project_id from webhook_attempts
       ) written group by 1, 2 order by 1, 2`,
    );
  const before = await projects();
  await db.raw('update webhook_deliveries set project_id = null; update webhook_attempts set project_id = null');
  // A webhook that is being delivered meanwhile, for longer than the migration waits for it.
  const delivery = await db.transaction();
  await delivery.raw('update webhook_deliveries set recovery_n = recovery_n where order_id = ?', [few[0]!]);
  const sent: string[] = [];
  const options = { pool_max: 1, session_sql: 'set lock_timeout = 500', onStatement: (sql: string) => sent.push(sql) };
  const migrating = connectDatabase(database.url, options);
  const migrated = webhookProjectIndexes.up(migrating);
  await untilLocked('the migration waits for it', db);
  const waited = sent.length;
  await until('the migration tries this batch again', () => sent.length > waited);
  await delivery.commit();
  await migrated;
  await webhookProjectIndexes.up(migrating);
  await migrating.destroy();
  const counts = (table_name: string) =>
    Object.fromEntries(
      before.filter((row) => row.table_name === table_name).map(({ project_id, count }) => [`${project_id}`, count]),
    );
  expect(counts('deliveries')).toEqual({ [PROJECT.id]: MANY + 300, [SMALL.id]: MANY + 3, [SECOND]: 2 });
  // An attempt that did not fail needs none.
  expect(counts('attempts')).toEqual({ [PROJECT.id]: 2 * MANY, [SMALL.id]: 2 * (MANY + 3), null: 2 });
  expect(await projects()).toEqual(before);
});

test('rules 13.16: a recovery goes on without reading the webhooks that it has delivered', async () => {
  const id = uuidv7();
  const time = { since: toIsoTime(NOW - MINUTE), until: toIsoTime(NOW) };
  await database.db.transaction((trx) =>
    insertWebhookRecovery(trx, { id, project_id: SECOND, ...time, request_id: uuidv7() }, new Date(NOW)),
  );
  const sent = await webhooks(SECOND, 2_000, { created: -30, failure: null });
  await database.db.raw(
    `update webhook_deliveries d set recovery_id = ?, recovery_n = t.n
     from unnest(?::uuid[]) with ordinality t (order_id, n) where d.order_id = t.order_id`,
    [id, sent],
  );
  await database.db.raw('analyze webhook_deliveries');
  expect(await rowsRead((db) => findWebhookRecoveryState(db, id))).toBeLessThan(100);
  expect(await findWebhookRecovery(database.db, id)).toMatchObject({ delivered: 2_000 });
});
