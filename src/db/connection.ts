import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import knex from 'knex';
import { types, type Client } from 'pg';
import { withPassword } from '../config';
import type { LabelsOf } from '../metrics/catalogue';
import { gauge, incrementCounter } from '../metrics/recorder';
import { traceStatements } from '../tracing/statements';
import { isTracing } from '../tracing/tracing';
import { errorClassOf } from './availability';
import type { Database } from './query';

/** How the connections of this file read values; other connections of the process read them as pg does. */
const TYPES = {
  getTypeParser(type: number, format: string): (text: string) => unknown {
    // Amounts are bigint columns of at most 2^53-1 (a CHECK), so a number holds each of them exactly. Sums may be
    // larger (exactSum).
    if (type === types.builtins.INT8) return Number;
    // Instants stay texts with their microseconds; a Date would cut them to milliseconds.
    if (type === types.builtins.TIMESTAMPTZ) return (text) => text;
    return types.getTypeParser(type, format as 'text');
  },
};

/** How long a process waits for Postgres, in milliseconds. Limits that Postgres enforces are in session.ts. */
export interface Limits {
  /** For a new or free connection. */
  connection: number;
  /** For an answer. Longer than the session's statement_timeout, which a server that has stopped cannot enforce. */
  silence: number;
}

/** Shorter than the deadlines of the API (API_DEADLINE_MS) and the worker, so that callers get an answer in time. */
export const LIMITS: Limits = { connection: 5_000, silence: 9_000 };

interface Options {
  /** Connections at most. */
  pool_max?: number;
  /** Keeps knex from logging failed connections. */
  quiet?: boolean;
  limits?: Limits;
  /** The file with the password, instead of one in the address. It is read again when it has changed. */
  password_file?: string | undefined;
  /** Runs first on every new connection. */
  session_sql?: string;
  onStatement?: (sql: string) => void;
}

/** Connections of this process that were opened before this instant are closed instead of used. */
let read_only_at = 0;

/**
 * Opens the pool of one process. Close it with `db.destroy()`. Nothing about the session is sent when a connection is
 * opened: connection poolers refuse or drop such options. Its time zone and time limits are stored with the role
 * (session.ts).
 */
export function connectDatabase(postgres_url: string, options: Options = {}): Database {
  const { limits, session_sql, password_file } = options;
  const opened_at = new WeakMap<Client, number>();
  const settingsWith = (connectionString: string) => ({
    connectionString,
    application_name: 'payments',
    types: TYPES,
    ...(limits && { connectionTimeoutMillis: limits.connection, query_timeout: limits.silence }),
  });
  const changeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  const settingsOfFile = (file: string) => async () => {
    const changed = changeOf(file);
    return {
      ...settingsWith(withPassword(postgres_url, await readFile(file, 'utf8'))),
      // Asked before each connection.
      expirationChecker: () => changeOf(file) !== changed,
    };
  };
  const db = knex({
    client: 'pg',
    connection: password_file === undefined ? settingsWith(postgres_url) : settingsOfFile(password_file),
    pool: {
      min: 0,
      max: options.pool_max ?? 10,
      // A connection whose statement timed out still waits for the answer; the next statement would queue behind it.
      validate: (connection: Client & { readyForQuery?: boolean | null }) =>
        connection.readyForQuery === true && opened_at.get(connection)! > read_only_at,
      afterCreate: (connection: Client, done: (error: Error | null) => void) => {
        opened_at.set(connection, performance.now());
        if (isTracing()) traceStatements(connection);
        if (session_sql === undefined) done(null);
        else connection.query(session_sql, done);
      },
    },
    acquireConnectionTimeout: limits?.connection ?? 10_000,
    ...(options.quiet ? { log: { warn() {}, error() {}, debug() {}, deprecate() {} } } : {}),
  });
  // After a failover the open connections lead to the old primary, new ones to the address of the new one. A pool that
  // only reads, such as that of lists and reports, would never find out.
  db.on('query-error', (error: unknown) => {
    const error_class = errorClassOf(error);
    if (error_class === 'read_only') read_only_at = performance.now();
    incrementCounter('payments_db_errors_total', { class: error_class });
  });
  if (options.onStatement) {
    const onStatement = options.onStatement;
    db.on('query', (query: { sql: string }) => onStatement(query.sql));
  }
  return db;
}

/**
 * Runs `work` with one connection to a database, which is closed after it. `work` throws what fails; knex does not log
 * it too.
 */
export async function withDatabase<T>(
  postgres_url: string,
  work: (db: Database) => Promise<T>,
  options: Options = {},
): Promise<T> {
  const db = connectDatabase(postgres_url, { pool_max: 1, quiet: true, ...options });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

/** Exports the connections of a pool of this process. */
export function observePool(db: Database, pool: LabelsOf<'payments_db_pool_waiting'>['pool']): void {
  const { pool: connections } = db.client as { pool: Pool };
  const of = (state: 'used' | 'idle', value: number) => ({ value, labels: { pool, state } });
  gauge('payments_db_pool_connections', () => [of('used', connections.numUsed()), of('idle', connections.numFree())]);
  gauge('payments_db_pool_connections_max', () => [{ value: connections.max, labels: { pool } }]);
  gauge('payments_db_pool_waiting', () => [{ value: connections.numPendingAcquires(), labels: { pool } }]);
  connections.on('acquireFail', (_id, error) => {
    const is_timeout = error instanceof Error && error.constructor.name === 'TimeoutError';
    incrementCounter('payments_db_errors_total', { class: is_timeout ? 'pool' : errorClassOf(error) });
  });
}

/** The parts of knex's pool that are observed. */
interface Pool {
  max: number;
  numUsed(): number;
  numFree(): number;
  numPendingAcquires(): number;
  on(event: 'acquireFail', listener: (id: number, error: unknown) => void): void;
}
