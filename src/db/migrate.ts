import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { codeOf } from './availability';
import { connectDatabase, withDatabase } from './connection';
import { queryColumn, queryValue, type Database } from './query';
import * as initial from './migrations/001-initial';
import * as ordersCompleted from './migrations/002-orders-completed';
import * as currentBuild from './migrations/003-current-build';
import * as payloadKeyUses from './migrations/004-payload-key-uses';
import * as originalTransactions from './migrations/005-original-transactions';
import * as failedAttempts from './migrations/006-failed-attempts';
import * as webhookProjects from './migrations/007-webhook-projects';
import * as webhookProjectIndexes from './migrations/008-webhook-project-indexes';
import * as indexes from './migrations/009-indexes';
import * as orderEnds from './migrations/010-order-ends';
import * as countIndexes from './migrations/011-count-indexes';
import * as erasuresWait from './migrations/012-erasures-wait';
import * as settlementsFetched from './migrations/013-settlements-fetched';
import { retryLocks } from './retry-locks';
import { credentialsIn, grantToService } from './service-role';
import { MIGRATION_LIMITS, storeSession } from './session';

/**
 * One change of the schema. It may be applied again after a failure, so each statement outside a transaction must allow
 * it.
 */
export interface Migration {
  up(db: Knex): Promise<void>;
  /** Without `transaction: false` it runs in one transaction. */
  config?: { transaction: boolean };
}

/**
 * Oldest first. After a release a migration never changes; each change is a new migration. The processes of the release
 * before run on the new schema (docs/operations.md, Change the schema).
 */
export const MIGRATIONS: Record<string, Migration> = {
  '001-initial': initial,
  '002-orders-completed': ordersCompleted,
  '003-current-build': currentBuild,
  '004-payload-key-uses': payloadKeyUses,
  '005-original-transactions': originalTransactions,
  '006-failed-attempts': failedAttempts,
  '007-webhook-projects': webhookProjects,
  '008-webhook-project-indexes': webhookProjectIndexes,
  '009-indexes': indexes,
  '010-order-ends': orderEnds,
  '011-count-indexes': countIndexes,
  '012-erasures-wait': erasuresWait,
  '013-settlements-fetched': settlementsFetched,
};

/** knex requires a way back. There is none: a dropped column loses its data. */
const notReversible = () => Promise.reject(new Error('migrations are not reversed: restore a backup instead'));

const sourceOf = (migrations: Record<string, Migration>): Knex.MigrationSource<string> => ({
  getMigrations: () => Promise.resolve(Object.keys(migrations)),
  getMigrationName: (name) => name,
  getMigration: (name) => Promise.resolve({ ...migrations[name]!, down: notReversible }),
});

/** The schema has migrations that this version does not know: it is not changed. */
export class NewerSchema extends Error {
  override readonly name = 'NewerSchema';
}

interface MigrateOptions {
  /** The role that owns the schema, if it differs from the role of the processes, which is then granted its rights. */
  owner_url?: string | undefined;
  migrations?: Record<string, Migration>;
  /** Called when a lock was not free within `lock_timeout`, before the migration tries again. */
  onRetry?: (attempt: number) => void;
}

/**
 * Creates the database if it is missing, brings its schema up to date and stores the settings of its sessions with the
 * role of `postgres_url`, the role of the processes. Repeat-safe; two migrations at once run one after the other. No
 * statement of the service waits longer than `lock_timeout` of the migration: if a lock is not free by then, the
 * migration lets the statements behind it pass and tries again, for about five minutes. Throws an Error after that, and
 * at once on the schema of a newer version.
 */
export async function migrate(
  postgres_url: string,
  { owner_url = postgres_url, migrations = MIGRATIONS, onRetry }: MigrateOptions = {},
): Promise<void> {
  await createDatabase(owner_url);
  const service = credentialsIn(postgres_url);
  const hasOwner = service.role !== credentialsIn(owner_url).role;
  const db = connectDatabase(owner_url, { pool_max: 2, session_sql: MIGRATION_LIMITS, quiet: true });
  const migrationSource = sourceOf(migrations);
  /** `false`: another migration runs. */
  const applyInTurn = () =>
    db.transaction(async (waiting) => {
      if (!(await isOurTurn(waiting))) return false;
      const newer = newerThan(migrations, await appliedMigrations(waiting));
      if (newer !== undefined) throw new NewerSchema(newer);
      // knex's own lock does not wait, and stays behind when its holder is killed.
      await db.migrate.forceFreeMigrationsLock({ migrationSource });
      await db.migrate.latest({ migrationSource });
      await storeSession(waiting);
      if (hasOwner) await grantToService(waiting, service);
      return true;
    });
  const apply = async () => {
    while (!(await applyInTurn())) await sleep(LOCK_CHECK_MS);
  };
  try {
    await retryLocks(apply, onRetry);
    // As the role itself: another role would need superuser or CREATEROLE rights.
    if (hasOwner) await withDatabase(postgres_url, storeSession);
  } finally {
    await db.destroy();
  }
}

/**
 * Whether no other migration runs, for as long as the transaction lasts. One that has to wait asks in a transaction of
 * its own each time: an index that is built concurrently waits for every transaction that has a snapshot when it looks,
 * to its end. A statement with bindings would keep its snapshot until the next statement, so this one has none.
 */
async function isOurTurn(trx: Database): Promise<boolean> {
  return await queryValue<boolean>(trx, `select pg_try_advisory_xact_lock(${LOCK}) as is_ours`);
}

/** The advisory lock of the migrations in Postgres, and how often a migration looks whether it is free. */
const LOCK = 7_264_001;
const LOCK_CHECK_MS = 200;

/** How the schema differs from this version's, in words; `undefined` when it does not. */
export async function schemaDifference(db: Database): Promise<string | undefined> {
  const applied = await appliedMigrations(db);
  return lackOf(applied) ?? newerThan(MIGRATIONS, applied);
}

/**
 * Called when a process starts. Throws an Error when a migration of this version is missing or not finished: columns that
 * are not filled would be answered as if they were (rules 24.22). On the schema of a newer version it may run.
 */
export async function checkSchema(db: Database): Promise<void> {
  const lack = lackOf(await appliedMigrations(db));
  if (lack === undefined) return;
  throw new Error(`${lack} Run node dist/src/main/migrate.js of this version, then start again.`);
}

function newerThan(known: Record<string, Migration>, applied: readonly string[]): string | undefined {
  const unknown = applied.filter((name) => !Object.hasOwn(known, name));
  return unknown.length > 0 ? `The schema is of a newer version: ${unknown.join(', ')}.` : undefined;
}

function lackOf(applied: readonly string[]): string | undefined {
  if (applied.length === 0) return 'The database has no schema.';
  const missing = Object.keys(MIGRATIONS).filter((name) => !applied.includes(name));
  return missing.length > 0 ? `The schema lacks ${missing.join(', ')}.` : undefined;
}

/** The names of the migrations that have ended; none without a schema. */
async function appliedMigrations(db: Database): Promise<string[]> {
  const migrations = await queryValue<string | null>(
    db,
    `select cast(to_regclass('knex_migrations') as text) as migrations`,
  );
  if (migrations === null) return [];
  return await queryColumn<string>(db, 'select name from knex_migrations');
}

/** SQLSTATE: the database exists, or is being created at this moment. */
const DUPLICATE_DATABASE = ['42P04', '23505'];
const NO_SUCH_DATABASE = '3D000';

async function createDatabase(postgres_url: string): Promise<void> {
  const target = new URL(postgres_url);
  const name = decodeURIComponent(target.pathname.slice(1));
  try {
    await withDatabase(postgres_url, (probe) => probe.raw('select 1'));
    return;
  } catch (error) {
    if (codeOf(error) !== NO_SUCH_DATABASE) throw error;
  }
  target.pathname = '/postgres';
  try {
    await withDatabase(target.toString(), (server) => server.raw('create database ??', [name]));
  } catch (error) {
    if (!DUPLICATE_DATABASE.includes(codeOf(error) ?? '')) throw error;
  }
}
