import { queryRows, type Database } from './connection';

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
export async function grantToService(db: Database, { role, password }: Credentials): Promise<void> {
  const known = await queryRows(db, 'select from pg_roles where rolname = :role', { role });
  if (known.length === 0) {
    // A statement of the schema takes no parameters.
    const [statement] = await queryRows<{ sql: string }>(
      db,
      `select format('create role %I login password %L', cast(:role as text), cast(:password as text)) as sql`,
      { role, password },
    );
    await db.raw(statement!.sql.replaceAll('?', '\\?'));
  }
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
