import knex, { type Knex } from 'knex';
import { types } from 'pg';

/** The database, or one SQL transaction of it. */
export type Database = Knex;
/** One SQL transaction: for what must not be done outside of one. */
export type SqlTransaction = Knex.Transaction;

// Amounts are bigint columns of at most 2^53-1 (a CHECK), so a number holds each of them exactly.
types.setTypeParser(types.builtins.INT8, Number);
// Instants stay texts with their microseconds; a Date would cut them to milliseconds.
types.setTypeParser(types.builtins.TIMESTAMPTZ, (text) => text);

/** An instant as statements take it: epoch milliseconds in, ISO 8601 in UTC out. */
export const iso = (epoch_ms: number): string => new Date(epoch_ms).toISOString();

/** How long a pool waits at most, in milliseconds. */
export interface Limits {
  /** For a connection, a new one or one that is free. */
  connection: number;
  /** For a row that is locked. */
  lock: number;
  /** For a statement; the server then ends it. */
  statement: number;
  /** For the next statement of a SQL transaction: a process that has stopped would otherwise keep its locks. */
  idle: number;
  /** For any answer: a little longer than `statement`, for a server that is gone and cannot end one. */
  silence: number;
}

/** Shorter than the deadlines of the API (API_DEADLINE_MS) and the worker, so that callers are told in time; no statement takes so long. */
export const LIMITS: Limits = { connection: 5_000, lock: 5_000, statement: 8_000, idle: 10_000, silence: 9_000 };

/** Opens the pool of one process. Close it with `db.destroy()`. `quiet`: knex does not log failed connections itself. */
export function connect(
  postgres_url: string,
  options: { pool_max?: number; quiet?: boolean; limits?: Limits; onStatement?: (sql: string) => void } = {},
): Database {
  const { limits } = options;
  const db = knex({
    client: 'pg',
    connection: {
      connectionString: postgres_url,
      application_name: 'payments',
      options: [
        'TimeZone=UTC',
        ...(limits
          ? [
              `statement_timeout=${limits.statement}`,
              `lock_timeout=${limits.lock}`,
              `idle_in_transaction_session_timeout=${limits.idle}`,
            ]
          : []),
      ]
        .map((setting) => `-c ${setting}`)
        .join(' '),
      ...(limits && { connectionTimeoutMillis: limits.connection, query_timeout: limits.silence }),
    },
    // A connection whose statement was given up still waits for its answer; the next statement would queue behind it.
    pool: {
      min: 0,
      max: options.pool_max ?? 10,
      validate: (connection: { readyForQuery?: boolean | null }) => connection.readyForQuery === true,
    },
    acquireConnectionTimeout: limits?.connection ?? 10_000,
    ...(options.quiet ? { log: { warn() {}, error() {}, debug() {}, deprecate() {} } } : {}),
  });
  if (options.onStatement) {
    const onStatement = options.onStatement;
    db.on('query', (query: { sql: string }) => onStatement(query.sql));
  }
  return db;
}

/** SQLSTATE: no connection, the server stops or starts, too many connections, a lock or a statement that took too long. */
const AWAY_STATES = /^(08...|57P0[123]|53300|55P03|57014)$/;
const AWAY_CODES = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
];
/** Errors that pg reports in words only; knex puts the statement before them. */
const AWAY_WORDS = /(Query read timeout|timeout expired|Connection (terminated|ended)[\w ]*|not queryable)$/;

/** Whether the database was unreachable or did not answer in time; the statement may have run. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof knex.KnexTimeoutError) return true;
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code === 'string' && (AWAY_STATES.test(code) || AWAY_CODES.includes(code))) return true;
  return error instanceof Error && AWAY_WORDS.test(error.message);
}

/** Throws when the database does not answer: the readiness probe. */
export async function ping(db: Database): Promise<void> {
  await db.raw('select 1');
}

/** The rows of one statement written in SQL. */
export async function rows<Row>(db: Database, sql: string, bindings: Record<string, unknown>): Promise<Row[]> {
  const result = (await db.raw(sql, bindings as never)) as { rows: Row[] };
  return result.rows;
}

/**
 * Like `rows`, for statements of the hot path: each connection parses and plans one once, under its name. Such a statement must
 * list its columns: with `select *`, a migration that adds one would break open connections.
 */
export async function preparedRows<Row>(
  db: Database,
  name: string,
  sql: string,
  bindings: Record<string, unknown>,
): Promise<Row[]> {
  const result = (await db.raw(sql, bindings as never).options({ name })) as { rows: Row[] };
  return result.rows;
}
