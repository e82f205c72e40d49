import knex from 'knex';
import type { Knex } from 'knex';
import { connectDatabase, queryRows, type Database } from './connection';
import * as initial from './migrations/001-initial';
import * as currentBuild from './migrations/002-current-build';
import { credentialsIn, grantToService } from './service-role';
import { NO_TIME_LIMITS, storeSession } from './session';

/** Oldest first. After a release a migration never changes; each change is a new migration. */
const MIGRATIONS: Record<string, { up(db: Knex): Promise<void> }> = {
  '001-initial': initial,
  '002-current-build': currentBuild,
};

/** knex requires a way back. There is none: a dropped column loses its data. */
const notReversible = () => Promise.reject(new Error('migrations are not reversed: restore a backup instead'));

const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: () => Promise.resolve(Object.keys(MIGRATIONS)),
  getMigrationName: (name) => name,
  getMigration: (name) => Promise.resolve({ ...MIGRATIONS[name]!, down: notReversible }),
};

/**
 * Creates the database if it is missing, brings its schema up to date and stores the settings of its sessions with the
 * role. `owner_url`: the role that owns the schema, if it differs from the role of the processes in `postgres_url`,
 * which is then granted its rights. Repeat-safe; two migrations at once run one after the other.
 */
export async function migrate(postgres_url: string, owner_url = postgres_url): Promise<void> {
  await createDatabase(owner_url);
  const service = credentialsIn(postgres_url);
  const hasOwner = service.role !== credentialsIn(owner_url).role;
  const db = connectDatabase(owner_url, { pool_max: 2, session_sql: NO_TIME_LIMITS });
  try {
    await db.transaction(async (waiting) => {
      await waiting.raw('select pg_advisory_xact_lock(?)', [LOCK]);
      // knex's own lock does not wait, and stays behind when its holder is killed.
      await db.migrate.forceFreeMigrationsLock({ migrationSource });
      await db.migrate.latest({ migrationSource });
      await storeSession(waiting);
      if (hasOwner) await grantToService(waiting, service);
    });
    if (hasOwner) await storeSessionOf(postgres_url);
  } finally {
    await db.destroy();
  }
}

/** Runs as the role itself: another role would need superuser or CREATEROLE rights. */
async function storeSessionOf(postgres_url: string): Promise<void> {
  const db = connectDatabase(postgres_url, { pool_max: 1 });
  try {
    await storeSession(db);
  } finally {
    await db.destroy();
  }
}

/** How the schema differs from this version's, in words; `undefined` when it does not. */
export async function schemaDifference(db: Database): Promise<string | undefined> {
  const [there] = await queryRows<{ migrations: string | null }>(
    db,
    `select cast(to_regclass('knex_migrations') as text) as migrations`,
    {},
  );
  if (there!.migrations === null) return 'The database has no schema.';
  const applied = (await queryRows<{ name: string }>(db, 'select name from knex_migrations', {})).map(
    ({ name }) => name,
  );
  const known = Object.keys(MIGRATIONS);
  const [missing, unknown] = [
    known.filter((name) => !applied.includes(name)),
    applied.filter((name) => !known.includes(name)),
  ];
  if (missing.length > 0) return `The schema lacks ${missing.join(', ')}.`;
  return unknown.length > 0 ? `The schema is of a newer version: ${unknown.join(', ')}.` : undefined;
}

/** The advisory lock of the migrations in Postgres. */
const LOCK = 7_264_001;

/** SQLSTATE: the database exists, or is being created at this moment. */
const DUPLICATE_DATABASE = ['42P04', '23505'];
const NO_SUCH_DATABASE = '3D000';

async function createDatabase(postgres_url: string): Promise<void> {
  const target = new URL(postgres_url);
  const name = decodeURIComponent(target.pathname.slice(1));
  const probe = connectDatabase(postgres_url, { pool_max: 1, quiet: true });
  try {
    await probe.raw('select 1');
    return;
  } catch (error) {
    if ((error as { code?: string }).code !== NO_SUCH_DATABASE) throw error;
  } finally {
    await probe.destroy();
  }
  target.pathname = '/postgres';
  const server = knex({ client: 'pg', connection: target.toString(), pool: { min: 0, max: 1 } });
  try {
    await server.raw('create database ??', [name]);
  } catch (error) {
    if (!DUPLICATE_DATABASE.includes((error as { code?: string }).code ?? '')) throw error;
  } finally {
    await server.destroy();
  }
}
