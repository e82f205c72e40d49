import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { connectDatabase, withDatabase } from '../../src/db/connection';
import { queryRows, type Database } from '../../src/db/query';
import { insertMerchant } from '../../src/db/projects/merchants';
import { upsertProject } from '../../src/db/projects/projects';
import { storeSession } from '../../src/db/session';
import { SecretKeys } from '../../src/secrets';
import { PROJECT } from './domain';
import { stack } from './stack';
import { until } from './waits';

/** SECRET_KEYS of tests that have a database of their own. */
export const SECRET_KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`;
export const secrets = new SecretKeys(SECRET_KEYS);

export type TestDatabase = Awaited<ReturnType<typeof createTestDatabase>>;

/** A database with the schema that nobody uses: a copy of it takes a quarter of the time of the migrations. */
const TEMPLATE = 'template_of_tests';

/** Loaded where it is needed: nearly all databases are copies. */
async function migrateDatabase(postgres_url: string): Promise<void> {
  const { migrate } = require('../../src/db/migrate') as typeof import('../../src/db/migrate');
  await migrate(postgres_url);
}

/** Makes the template on a cluster, once for the run. */
export async function createTemplate(postgres_url: string): Promise<void> {
  await migrateDatabase(withDatabaseName(postgres_url, TEMPLATE));
}

/** The address of another database of the same server. */
export function withDatabaseName(postgres_url: string, name: string): string {
  const url = new URL(postgres_url);
  url.pathname = `/${name}`;
  return url.toString();
}

async function copyTemplate(postgres_url: string, name: string): Promise<void> {
  await withDatabase(postgres_url, (server) => server.raw('create database ?? template ??', [name, TEMPLATE]));
  // Stored with the role in a database, which a copy does not have.
  await withDatabase(withDatabaseName(postgres_url, name), storeSession);
}

/** Rows of a running stack's record, or of its processor's database, `simulator`. */
export async function recordRows<Row>(
  sql: string,
  bindings: Record<string, unknown> = {},
  { postgres_url = stack().postgres_url, database = 'payments' }: { postgres_url?: string; database?: string } = {},
): Promise<Row[]> {
  return await withDatabase(withDatabaseName(postgres_url, database), (db) => queryRows<Row>(db, sql, bindings));
}

/** A recovery of a project, of the last hour, on the run's stack; its id. A project has one that is paused at most. */
export async function aRecovery(
  project_id: string,
  status: 'running' | 'paused' | 'stopped' = 'paused',
): Promise<string> {
  const [made] = await recordRows<{ id: string }>(
    `insert into webhook_recoveries (id, project_id, since, until, status, paused_by, request_id, created, modified)
     select gen_random_uuid(), :project_id, now() - interval '1 hour', now(), cast(:status as text), case when :status = 'paused' then 'request' end, gen_random_uuid(), t, t
     from clock_timestamp() t returning id`,
    { project_id, status },
  );
  return made!.id;
}

/** A database of its own on the cluster of the test run, or on another, with the schema and one test project. */
export async function createTestDatabase(options: { webhook_url?: string; postgres_url?: string } = {}) {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const url = withDatabaseName(options.postgres_url ?? stack().postgres_url, name);
  if (options.postgres_url === undefined) await copyTemplate(stack().postgres_url, name);
  else await migrateDatabase(url);
  /** Every statement since `forget()`. */
  const statements: string[] = [];
  const db = connectDatabase(url, {
    pool_max: 5,
    onStatement: (sql) => statements.push(sql),
    // A server of a test's own is there to be killed.
    quiet: options.postgres_url !== undefined,
  });
  const merchant = { id: PROJECT.merchant_id, name: 'Test Books', country: 'NL', default_currency: 'EUR' };
  await insertMerchant(db, merchant, new Date(0));
  await upsertProject(
    { db, secrets },
    PROJECT.merchant_id,
    {
      id: PROJECT.id,
      name: 'Test project',
      is_test: true,
      currencies: PROJECT.currencies,
      payment_methods: PROJECT.payment_methods,
      webhook_url: options.webhook_url,
    },
    new Date(0),
  );
  return { db, url, statements, forget: () => statements.splice(0), close: () => db.destroy() };
}

/** How Postgres reads what the first statement of this asks for, as JSON. */
export async function planOf({ db, url }: TestDatabase, ask: () => Promise<unknown>): Promise<string> {
  const asked: { sql: string; bindings: unknown[] }[] = [];
  const note = (query: { sql: string; bindings: unknown[] }) => void asked.push(query);
  db.on('query', note);
  await ask();
  db.off('query', note);
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows: plan } = await client.query(`explain (format json) ${asked[0]!.sql}`, asked[0]!.bindings);
  await client.end();
  return JSON.stringify(plan);
}

/** Milliseconds from the start of a statement to when its sender has gone. */
const TIME_TO_BEGIN_MS = 300;

/** Runs a statement while another transaction holds what `lock` takes, and lets go once `begin_before` has passed. */
export async function runBehindLock<T>(db: Database, lock: string, run: (begin_before: number) => Promise<T>) {
  const holder = await db.transaction();
  await holder.raw(lock);
  const begin_before = Date.now() + TIME_TO_BEGIN_MS;
  const outcome = run(begin_before);
  outcome.catch(() => undefined);
  await untilLocked('the statement waits for the lock', db);
  await until('its sender has gone', () => Date.now() > begin_before + 1);
  await holder.commit();
  return await outcome;
}

/** Resolves once a statement waits for a lock. Not for its holder: a transaction sees activities as they were first. */
export async function untilLocked(what: string, db: Database): Promise<void> {
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until(what, async () => (await queryRows(db, waiting)).length > 0);
}
