import { queryValue, requireRow, type Database } from './query';

/**
 * Settings of every session of the service, by the names of Postgres; times in milliseconds. A statement and a wait for
 * a lock end before the callers' deadlines. A process that hangs in a SQL transaction loses its locks after
 * idle_in_transaction_session_timeout.
 */
const SESSION = {
  statement_timeout: 8_000,
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 10_000,
} as const;
/** Instants are read as texts. */
const TIME_ZONE = 'UTC';

/** For a role whose settings the migration does not store, such as the owner of the schema. */
export const READ_IN_UTC = `set time zone '${TIME_ZONE}'`;

/**
 * For a migration. A statement may take long. While it waits for the lock of a table, every later statement on that
 * table waits behind it, so the wait is short; the migration then tries again. Milliseconds.
 */
export const MIGRATION_LIMITS = [
  'set statement_timeout = 0',
  'set lock_timeout = 2000',
  'set idle_in_transaction_session_timeout = 0',
].join('; ');

/** A role in a database. */
interface Place {
  role: string;
  database: string;
}

/**
 * Stores the settings with the role of this connection, for this database: every new session gets them, including those
 * of a connection pooler. Repeat-safe.
 */
export async function storeSession(db: Database): Promise<void> {
  const place = await requireRow<Place>(db, 'select current_user as role, current_database() as database');
  for (const statement of statementsFor(place)) await db.raw(statement);
}

/** The statements that give a role these settings. checkSession names them to the operator. */
function statementsFor({ role, database }: Place): string[] {
  const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
  const set = `alter role ${quoted(role)} in database ${quoted(database)} set`;
  return [
    `${set} TimeZone = '${TIME_ZONE}'`,
    ...Object.entries(SESSION).map(([name, milliseconds]) => `${set} ${name} = ${milliseconds}`),
  ];
}

type Found = Place & Record<keyof typeof SESSION, number> & { time_zone: string; connections: number };

/** The settings of this session, and how many connections its role may have. */
const FIND_SESSION = `
  select current_user as role, current_database() as database, current_setting('TimeZone') as time_zone,
    ${Object.keys(SESSION)
      .map((name) => `(select setting::int from pg_settings where name = '${name}') as ${name}`)
      .join(', ')},
    least(
      current_setting('max_connections')::int - case when r.rolsuper then 0
        else current_setting('superuser_reserved_connections')::int + current_setting('reserved_connections')::int end,
      nullif(r.rolconnlimit, -1), nullif(d.datconnlimit, -1)) as connections
  from pg_roles r, pg_database d where r.rolname = current_user and d.datname = current_database()`;

/**
 * Called when a process starts. Throws an Error when the server is a standby, which cannot write: a process that
 * started there would take requests and refuse them all (rules 24.22).
 */
export async function checkPrimary(db: Database): Promise<void> {
  const is_standby = await queryValue<boolean>(db, 'select pg_is_in_recovery() as is_standby');
  if (!is_standby) return;
  throw new Error(
    'POSTGRES_URL leads to a standby: let it lead to the primary, or promote the standby, then start again.',
  );
}

/**
 * Called when a process starts that may open `connections_max` connections. Throws an Error with the remedy when
 * Postgres lacks the settings, or allows the role fewer connections (rules 24.1, 24.2).
 */
export async function checkSession(db: Database, connections_max: number): Promise<void> {
  const found = await requireRow<Found>(db, FIND_SESSION);
  const { role, database, time_zone, connections } = found;
  const wrong = [
    ...(time_zone === TIME_ZONE ? [] : [`TimeZone is ${time_zone}`]),
    ...Object.entries(SESSION).flatMap(([name, most]) => {
      const milliseconds = found[name as keyof typeof SESSION];
      if (milliseconds > 0 && milliseconds <= most) return [];
      return [`${name} is ${milliseconds === 0 ? 'off' : `${milliseconds} ms, more than ${most} ms`}`];
    }),
  ];
  if (wrong.length > 0) {
    throw new Error(
      `Sessions of role ${role} in database ${database} are not set up: ${wrong.join(', ')}. ` +
        `Run as ${role} or as a superuser, then start again (behind PgBouncer: RECONNECT first): ${statementsFor(found).join('; ')};`,
    );
  }
  if (connections_max > connections) {
    throw new Error(
      `POSTGRES_CONNECTIONS_MAX is ${connections_max}, and role ${role} may have ${connections} connections to database ${database}: ` +
        'lower it, or raise max_connections or the limit of the role or database (docs/operations.md, Connections to Postgres).',
    );
  }
}
