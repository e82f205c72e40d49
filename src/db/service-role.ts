import { connectDatabase, queryRows, type Database } from './connection';

/** The role that a Postgres URL signs in with, and its password. */
interface Credentials {
  role: string;
  password: string;
}

export function credentialsIn(postgres_url: string): Credentials {
  const { username, password } = new URL(postgres_url);
  return { role: decodeURIComponent(username), password: decodeURIComponent(password) };
}

/**
 * Gives the role of the service's processes what they need and no more (rules 21.23): rows of every table, of the audit
 * trail only to insert and to read. It owns nothing, so it can neither lift the guard of the audit trail nor change the
 * schema. Makes the role when it is missing, which takes a superuser or CREATEROLE. Repeat-safe; runs after each
 * migration, as the role of this connection, the owner.
 */
export async function grantToService(db: Database, credentials: Credentials): Promise<void> {
  const { role } = credentials;
  await makeRole(db, credentials);
  const [place] = await queryRows<{ database: string }>(db, 'select current_database() as database', {});
  await db.raw('grant connect, temporary on database ?? to ??', [place!.database, role]);
  await db.raw('revoke create on schema public from public');
  await db.raw('grant usage on schema public to ??', [role]);
  await db.raw('grant select, insert, update, delete on all tables in schema public to ??', [role]);
  await db.raw('grant usage on all sequences in schema public to ??', [role]);
  await db.raw('revoke all on audit_trail, knex_migrations, knex_migrations_lock from ??', [role]);
  await db.raw('grant select, insert on audit_trail to ??', [role]);
  await db.raw('grant select on knex_migrations to ??', [role]);
}

/** Makes a role that may sign in, and nothing more, unless it is there. */
async function makeRole(db: Database, { role, password }: Credentials): Promise<void> {
  const known = await queryRows(db, 'select from pg_roles where rolname = :role', { role });
  if (known.length > 0) return;
  // A statement of the schema takes no parameters.
  const [statement] = await queryRows<{ sql: string }>(
    db,
    `select format('create role %I login password %L', cast(:role as text), cast(:password as text)) as sql`,
    { role, password },
  );
  await db.raw(statement!.sql.replaceAll('?', '\\?'));
}

/** Makes the role and the database of an address where they are missing: a database that only this role may open. */
export async function makeDatabase(postgres_url: string, superuser_url: string): Promise<void> {
  const database = decodeURIComponent(new URL(postgres_url).pathname.slice(1));
  const credentials = credentialsIn(postgres_url);
  const db = connectDatabase(superuser_url, { pool_max: 1 });
  try {
    await makeRole(db, credentials);
    const found = await queryRows(db, 'select from pg_database where datname = :database', { database });
    if (found.length === 0) await db.raw('create database ?? owner ??', [database, credentials.role]);
    await db.raw('revoke all on database ?? from public', [database]);
  } finally {
    await db.destroy();
  }
}
