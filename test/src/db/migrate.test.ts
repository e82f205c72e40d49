import { randomBytes } from 'node:crypto';
import { checkWritable, connectDatabase, queryRows } from '../../../src/db/connection';
import { migrate } from '../../../src/db/migrate';
import { stack } from '../../support/stack';

const freshUrl = () => stack().postgres_url.replace(/\/\w+$/, `/test_${randomBytes(6).toString('hex')}`);

test('makes the database that is missing; several at once wait for each other; again it does nothing', async () => {
  const url = freshUrl();
  await Promise.all([migrate(url), migrate(url), migrate(url)]);
  await migrate(url);
  const db = connectDatabase(url, { pool_max: 1 });
  const [found] = await queryRows<{ tables: number }>(
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
  const db = connectDatabase(url, { pool_max: 1 });
  await db('knex_migrations_lock').update({ is_locked: 1 });
  await expect(migrate(url)).resolves.toBeUndefined();
  await db.destroy();
});

test('a server that is not there is an error, at once', async () => {
  await expect(migrate('postgres://nobody@127.0.0.1:1/x')).rejects.toThrow('ECONNREFUSED');
});

test('amounts are numbers, instants are texts in UTC that keep their microseconds', async () => {
  const db = connectDatabase(stack().postgres_url, { pool_max: 1 });
  const [row] = await queryRows<object>(
    db,
    `select 9007199254740991::bigint as amount, '2026-01-15 12:00:05.433502+02'::timestamptz as at`,
    {},
  );
  await checkWritable(db);
  await db.destroy();
  expect(row).toEqual({ amount: 9_007_199_254_740_991, at: '2026-01-15 10:00:05.433502+00' });
});
