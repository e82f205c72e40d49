import { v7 as uuidv7 } from 'uuid';
import { queryRows, toIsoTime, type Database } from '../../../../src/db/connection';
import * as webhookProjectIndexes from '../../../../src/db/migrations/008-webhook-project-indexes';
import { insertMerchant } from '../../../../src/db/projects/merchants';
import { upsertProject } from '../../../../src/db/projects/projects';
import {
  countToRecover,
  findWebhookRecovery,
  insertWebhookRecovery,
  nextToRecover,
  type StoredWebhookRecovery,
} from '../../../../src/db/webhooks/recoveries';
import { listStoredDeliveries } from '../../../../src/db/webhooks/stored-deliveries';
import { createTestDatabase, secrets, untilLocked } from '../../../support/database';
import { MINUTE, NOW, PROJECT } from '../../../support/domain';
import { writeOrders } from '../../../support/rows';
import { setUp } from '../../../support/set-up';

const SMALL = { merchant_id: uuidv7(), id: uuidv7() };
/** Failed webhooks of the large project in the time of the recovery, and as many of the small one before it. */
const MANY = 6_000;

const database = setUp(createTestDatabase);
/** Ids of the orders of the small project whose webhooks a recovery is to send: the first was written before the time. */
let few: string[];

beforeAll(async () => {
  const { db } = database;
  const { merchant_id, id } = SMALL;
  await insertMerchant(
    db,
    { id: merchant_id, name: 'A small shop', country: 'NL', default_currency: 'EUR' },
    new Date(0),
  );
  await upsertProject({ db, secrets }, merchant_id, { ...PROJECT, id, name: 'Small', is_test: true }, new Date(0));
  // As processes of the release before write it, which know of no project.
  await failedWebhooks(PROJECT.id, MANY, 0);
  await failedWebhooks(SMALL.id, MANY, -24 * 60);
  few = [...(await failedWebhooks(SMALL.id, 1, -5, 5)), ...(await failedWebhooks(SMALL.id, 2, 10))];
  await db.raw('analyze orders, webhook_deliveries, webhook_attempts');
});

/** Orders whose webhooks failed with one attempt each, so many minutes after NOW, in the record alone. */
async function failedWebhooks(project_id: string, orders: number, created: number, attempted = created) {
  const ids = await writeOrders(
    database.db,
    Array.from({ length: orders }, () => ({ project_id, status: 'cancelled' })),
  );
  await database.db.raw(
    `with d as (
       insert into webhook_deliveries (order_id, n, url, status, created)
       select id, 1, 'https://shop.example/hook', 'failed', ? from unnest(?::uuid[]) id returning order_id, n
     )
     insert into webhook_attempts (order_id, n, attempt, time_limit_ms, started, duration_ms, failure)
     select order_id, n, 1, 4000, ?, 10, 'answered 500' from d`,
    [toIsoTime(NOW + created * MINUTE), ids, toIsoTime(NOW + attempted * MINUTE)],
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
        {},
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

test.each([
  ['a project', { project_id: SMALL.id }],
  ['a merchant', { merchant_id: SMALL.merchant_id }],
  ['a merchant, those that failed', { merchant_id: SMALL.merchant_id, status: 'failed' as const }],
])('the webhooks of %s are listed page by page, and those of others are not read', async (_title, filter) => {
  const page = (db: Database, cursor?: string) => listStoredDeliveries(db, filter, { limit: 2, cursor });
  const first = await page(database.db);
  const second = await page(database.db, first.next);
  const listed = [...first.items, ...second.items];
  expect(listed.slice(0, 3).map(({ order_id }) => order_id)).toEqual([...few.slice(1).toSorted().toReversed(), few[0]]);
  expect(listed.map(({ project_id }) => project_id)).toEqual(listed.map(() => SMALL.id));
  const read = [await rowsRead((db) => page(db)), await rowsRead((db) => page(db, first.next))];
  expect(Math.max(...read)).toBeLessThan(100);
});

test('rules 24.2: a migration fills the projects of old webhooks and failed attempts; again it changes nothing', async () => {
  const { db } = database;
  const projects = async () =>
    await queryRows(
      db,
      `select table_name, project_id, count(*) from (
         select 'deliveries' as table_name, project_id from webhook_deliveries
         union all select 'attempts', project_id from webhook_attempts
       ) written group by 1, 2 order by 1, 2`,
      {},
    );
  const before = await projects();
  await db.raw('update webhook_deliveries set project_id = null; update webhook_attempts set project_id = null');
  // A webhook that is being delivered meanwhile.
  const delivery = await db.transaction();
  await delivery.raw('update webhook_deliveries set recovery_n = recovery_n where order_id = ?', [few[0]!]);
  const migrated = webhookProjectIndexes.up(db);
  await untilLocked('the migration waits for it', db);
  await delivery.commit();
  await migrated;
  await webhookProjectIndexes.up(db);
  const of_both = (table_name: string) =>
    [PROJECT.id, SMALL.id].toSorted().map((project_id) => ({
      table_name,
      project_id,
      count: project_id === SMALL.id ? MANY + 3 : MANY,
    }));
  expect(before).toEqual([...of_both('attempts'), ...of_both('deliveries')]);
  expect(await projects()).toEqual(before);
});
