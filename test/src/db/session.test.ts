import net from 'node:net';
import { randomBytes } from 'node:crypto';
import { parseConfig } from '../../../src/config';
import { LIMITS, connectDatabase, withDatabase } from '../../../src/db/connection';
import { queryRows } from '../../../src/db/query';
import { MIGRATIONS } from '../../../src/db/migrate';
import { MIGRATION_LIMITS, checkSession } from '../../../src/db/session';
import { openDatabase } from '../../../src/processes/connections';
import { createTestDatabase } from '../../support/database';
import { setUp } from '../../support/set-up';

/** Time limits and the share of the connections, on the real Postgres. */
const migrated = setUp(() => createTestDatabase());

const SHARE = 10;

const problemOf = (url: string, share = SHARE) =>
  withDatabase(url, (db) => checkSession(db, share)).then(
    () => 'none',
    (error: unknown) => (error as Error).message,
  );

/** An address with a role that no migration has seen. */
async function aRole(options = ''): Promise<{ url: string; role: string }> {
  const [role, password] = [`Role-${randomBytes(4).toString('hex')}`, randomBytes(8).toString('hex')];
  await migrated.db.raw(`create role "${role}" login ${options} password '${password}'`);
  const url = new URL(migrated.url);
  Object.assign(url, { username: role, password });
  return { url: url.toString(), role };
}

test('a migrated database gives each new session of its role the settings, without any option of the client', async () => {
  const found = await withDatabase(migrated.url, (db) =>
    queryRows<{ name: string; setting: string }>(
      db,
      "select name, setting from pg_settings where name like '%timeout' and setting <> '0' and source = 'database user' order by name",
    ),
  );
  expect(found).toEqual([
    { name: 'idle_in_transaction_session_timeout', setting: '10000' },
    { name: 'lock_timeout', setting: '5000' },
    { name: 'statement_timeout', setting: '8000' },
  ]);
  expect(await problemOf(migrated.url)).toBe('none');
});

test('no start-up options are sent, which a connection pooler would refuse or drop', async () => {
  let packet = Buffer.alloc(0);
  const server = net.createServer((socket) => socket.once('data', (data) => ((packet = data), socket.end())));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(migrated.url);
  url.port = String((server.address() as net.AddressInfo).port);
  const db = connectDatabase(url.toString(), { limits: LIMITS, quiet: true });
  await expect(checkSession(db, SHARE)).rejects.toThrow('Connection terminated');
  await db.destroy();
  server.close();
  // Length and version of the protocol, then names and values in turn.
  const words = packet.subarray(8).toString().split('\0').slice(0, -2);
  expect(words.filter((_, n) => n % 2 === 0).toSorted()).toEqual([
    'application_name',
    'client_encoding',
    'database',
    'user',
  ]);
});

test('rules 24.2: another role than the migration’s is refused, with the statements that help', async () => {
  const { url, role } = await aRole();
  const problem = await problemOf(url);
  expect(problem).toMatch(`Sessions of role ${role} in database`);
  expect(problem).toMatch(
    'statement_timeout is off, lock_timeout is off, idle_in_transaction_session_timeout is off. Run as',
  );
  const statements = problem.slice(problem.indexOf('alter role'));
  await withDatabase(url, (db) => db.raw(statements));
  expect(await problemOf(url)).toBe('none');
});

test.each([
  ['statement_timeout = 8001', 'statement_timeout is 8001 ms, more than 8000 ms'],
  ['statement_timeout = 3000', undefined],
  ['TimeZone = "Europe/Madrid"', 'TimeZone is Europe/Madrid'],
])('what an operator has set is checked: %s', async (setting, problem) => {
  const { url, role } = await aRole();
  const statements = await problemOf(url);
  await withDatabase(url, (db) => db.raw(statements.slice(statements.indexOf('alter role'))));
  await migrated.db.raw(`alter role "${role}" in database ${new URL(url).pathname.slice(1)} set ${setting}`);
  const found = await problemOf(url);
  expect(found === 'none' ? undefined : found.match(/not set up: (.*?)\. Run/)?.[1]).toBe(problem);
});

test('rules 24.1: a share that Postgres does not have is refused', async () => {
  const max = Number(
    (await queryRows<{ max: string }>(migrated.db, "select current_setting('max_connections') as max"))[0]!.max,
  );
  expect(await problemOf(migrated.url, max)).toBe('none');
  expect(await problemOf(migrated.url, max + 1)).toMatch(
    `POSTGRES_CONNECTIONS_MAX is ${max + 1}, and role postgres may have ${max} connections`,
  );
  const { url, role } = await aRole('connection limit 4');
  const statements = await problemOf(url);
  await withDatabase(url, (db) => db.raw(statements.slice(statements.indexOf('alter role'))));
  expect(await problemOf(url, 4)).toBe('none');
  expect(await problemOf(url, 5)).toMatch(`role ${role} may have 4 connections to database`);
});

test('rules 24.22: a process does not start before the migrations of its version, but on the schema of a newer one', async () => {
  const { db, url } = await createTestDatabase();
  const start = async () => await (await openDatabase(parseConfig({ POSTGRES_URL: url }))).destroy();
  try {
    await db.raw("insert into knex_migrations (name, batch) values ('999-next', 1)");
    await expect(start()).resolves.toBeUndefined();
    const newest = Object.keys(MIGRATIONS).at(-1)!;
    await db.raw('delete from knex_migrations where name = ?', [newest]);
    const remedy = 'Run node dist/src/main/migrate.js of this version, then start again.';
    await expect(start()).rejects.toThrow(`The schema lacks ${newest}. ${remedy}`);
    await db.raw('drop table knex_migrations');
    await expect(start()).rejects.toThrow(`The database has no schema. ${remedy}`);
  } finally {
    await db.destroy();
  }
});

test('a process opens no more connections than its share', async () => {
  const db = await openDatabase(parseConfig({ POSTGRES_URL: migrated.url, POSTGRES_CONNECTIONS_MAX: '3' }));
  try {
    await Promise.all(Array.from({ length: 9 }, () => db.raw('select pg_sleep(0.05)')));
    const [row] = await queryRows<{ count: number }>(
      migrated.db,
      `select count(*) as count from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    );
    expect(row!.count).toBe(3);
  } finally {
    await db.destroy();
  }
});

test('rules 24.2: a migration may take longer than a statement of the service, and waits two seconds for a lock', async () => {
  const db = connectDatabase(migrated.url, { pool_max: 1, session_sql: MIGRATION_LIMITS });
  try {
    const found = await queryRows<{ setting: string }>(
      db,
      "select setting from pg_settings where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout') order by name",
    );
    expect(found.map(({ setting }) => setting)).toEqual(['0', '2000', '0']);
  } finally {
    await db.destroy();
  }
});
