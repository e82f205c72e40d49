import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { codeOf } from './availability';
import { withDatabase } from './connection';
import { queryRows, queryValue, type Database } from './query';

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
 * Grants the role of the service's processes only the rights that they need (rules 21.23): the rows of every table; in
 * the audit trail, to insert and to read. It owns nothing, so it can neither disable the guard of the audit trail nor
 * change the schema. Creates a missing role, which requires superuser or CREATEROLE rights. Repeat-safe; runs after
 * each migration, as the owner.
 */
export async function grantToService(db: Database, credentials: Credentials): Promise<void> {
  const { role } = credentials;
  await makeRole(db, credentials);
  const database = await queryValue<string>(db, 'select current_database() as database');
  await db.raw('grant connect, temporary on database ?? to ??', [database, role]);
  await db.raw('revoke create on schema public from public');
  await db.raw('grant usage on schema public to ??', [role]);
  await db.raw('grant select, insert, update, delete on all tables in schema public to ??', [role]);
  await db.raw('grant usage on all sequences in schema public to ??', [role]);
  await db.raw('revoke all on audit_trail, knex_migrations, knex_migrations_lock from ??', [role]);
  await db.raw('grant select, insert on audit_trail to ??', [role]);
  await db.raw('grant select on knex_migrations to ??', [role]);
}

/**
 * Creates a role with the right to sign in and no other, unless it exists. Throws an Error with the remedy and without
 * its cause: knex puts the statement, which has the password, before the text of an error, and callers print it.
 */
async function makeRole(db: Database, { role, password }: Credentials): Promise<void> {
  const known = await queryRows(db, 'select from pg_roles where rolname = :role', { role });
  if (known.length > 0) return;
  try {
    // A statement of the schema takes no parameters.
    const sql = await queryValue<string>(
      db,
      `select format('create role %I login password %L', cast(:role as text), cast(:password as text)) as sql`,
      { role, password: scramVerifier(password) },
    );
    await db.raw(sql.replaceAll('?', '\\?'));
  } catch (error) {
    throw new Error(
      `The role ${role} does not exist in Postgres and cannot be created (${codeOf(error) ?? 'no code'}): create it ` +
        'with LOGIN and its password, or give the role that migrates the right CREATEROLE, then start again.',
    );
  }
}

/** Iterations of PBKDF2, as Postgres' own. */
const SCRAM_ITERATIONS = 4_096;

/**
 * What Postgres stores of a password (RFC 5803). Sent in its place, so that no log of the server has the password: with
 * `log_statement`, or when the statement fails, it logs the whole statement.
 */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(normalized(password), salt, SCRAM_ITERATIONS, 32, 'sha256');
  const keyFor = (name: string) => createHmac('sha256', salted).update(name).digest();
  const stored_key = createHash('sha256').update(keyFor('Client Key')).digest('base64');
  const server_key = keyFor('Server Key').toString('base64');
  return `SCRAM-SHA-256$${SCRAM_ITERATIONS}:${salt.toString('base64')}$${stored_key}:${server_key}`;
}

/** A password as Postgres and its clients prepare it (SASLprep, RFC 4013; the tables C.1.2 and B.1 of RFC 3454). */
const normalized = (password: string) =>
  password
    .replace(/[\u{a0}\u{1680}\u{2000}-\u{200b}\u{202f}\u{205f}\u{3000}]/gu, ' ')
    .replace(
      /\u{ad}|\u{34f}|\u{1806}|\u{180b}|\u{180c}|\u{180d}|\u{200c}|\u{200d}|\u{2060}|[\u{fe00}-\u{fe0f}]|\u{feff}/gu,
      '',
    )
    .normalize('NFKC');

/** Creates the role and the database of an address if they are missing. Only this role may connect to the database. */
export async function makeDatabase(postgres_url: string, superuser_url: string): Promise<void> {
  const database = decodeURIComponent(new URL(postgres_url).pathname.slice(1));
  const credentials = credentialsIn(postgres_url);
  await withDatabase(superuser_url, async (db) => {
    await makeRole(db, credentials);
    const found = await queryRows(db, 'select from pg_database where datname = :database', { database });
    if (found.length === 0) await db.raw('create database ?? owner ??', [database, credentials.role]);
    await db.raw('revoke all on database ?? from public', [database]);
  });
}
