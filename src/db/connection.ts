import knex, { type Knex } from 'knex';
import { types, type Client } from 'pg';

/** The database, or one SQL transaction of it. */
export type Database = Knex;
/** One SQL transaction, for statements that must not run outside of one. */
export type SqlTransaction = Knex.Transaction;

/** How the connections of this file read values; other connections of the process read them as pg does. */
const TYPES = {
  getTypeParser(type: number, format: string): (text: string) => unknown {
    // Amounts are bigint columns of at most 2^53-1 (a CHECK), so a number holds each of them exactly.
    if (type === types.builtins.INT8) return Number;
    // Instants stay texts with their microseconds; a Date would cut them to milliseconds.
    if (type === types.builtins.TIMESTAMPTZ) return (text) => text;
    return types.getTypeParser(type, format as 'text');
  },
};

/** An instant as statements take it: epoch milliseconds in, ISO 8601 in UTC out. */
export const toIsoTime = (epoch_ms: number): string => new Date(epoch_ms).toISOString();

/** A list of texts in SQL, as after `in`: written out instead of bound, so that a partial index with the same list serves. */
export const sqlList = (texts: readonly string[]) => `(${texts.map((text) => `'${text}'`).join(', ')})`;

/** The assignment of `modified` in an update. It never goes back, although clocks of machines and sandboxes differ. */
export const modifiedAt = (table: string, now = ':now') =>
  `modified = greatest(${table}.modified, ${now}::timestamptz)`;

/** As modifiedAt, with a new version. */
export const nextVersion = (table: string, now?: string) => `version = ${table}.version + 1, ${modifiedAt(table, now)}`;

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
  /** Runs first on every new connection. */
  session_sql?: string;
  onStatement?: (sql: string) => void;
}

/**
 * Opens the pool of one process. Close it with `db.destroy()`. Nothing about the session is sent when a connection is
 * opened: connection poolers refuse or drop such options. Its time zone and time limits are stored with the role
 * (session.ts).
 */
export function connectDatabase(postgres_url: string, options: Options = {}): Database {
  const { limits, session_sql } = options;
  const db = knex({
    client: 'pg',
    connection: {
      connectionString: postgres_url,
      application_name: 'payments',
      types: TYPES,
      ...(limits && { connectionTimeoutMillis: limits.connection, query_timeout: limits.silence }),
    },
    // A connection whose statement timed out still waits for the answer; the next statement would queue behind it.
    pool: {
      min: 0,
      max: options.pool_max ?? 10,
      validate: (connection: { readyForQuery?: boolean | null }) => connection.readyForQuery === true,
      ...(session_sql !== undefined && {
        afterCreate: (connection: Client, done: (error: Error | null) => void) => connection.query(session_sql, done),
      }),
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

/**
 * SQLSTATE: no connection, the server stops or starts, too many connections, a lock or a statement that took too long.
 */
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
/** Errors that pg reports without a code. knex puts the statement before the text. */
const AWAY_WORDS = /(Query read timeout|timeout expired|Connection (terminated|ended)[\w ]*|not queryable)$/;

/**
 * A required record does not exist: its commit is not visible yet, as during a failover, or it is lost (rules 10.19).
 */
export class RecordMissing extends Error {}

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

/**
 * Reads with a time limit for each statement, in milliseconds, in place of the role's. Set for one SQL transaction
 * only: a setting of the session would affect other processes through a connection pooler.
 */
export async function readWithin<T>(
  db: Database,
  statement_ms: number,
  work: (trx: SqlTransaction) => Promise<T>,
): Promise<T> {
  return await db.transaction(
    async (trx) => {
      await trx.raw(`set local statement_timeout = ${statement_ms}`);
      return await work(trx);
    },
    { readOnly: true },
  );
}

/** The rows of one statement written in SQL. */
export async function queryRows<Row>(db: Database, sql: string, bindings: Record<string, unknown>): Promise<Row[]> {
  const result = (await db.raw(sql, bindings as never)) as { rows: Row[] };
  return result.rows;
}

/**
 * Like `queryRows`, for statements of the hot path: each connection prepares a statement once, under its name. Such a
 * statement must list its columns: with `select *`, a migration that adds one would break open connections.
 */
export async function queryPrepared<Row>(
  db: Database,
  name: string,
  sql: string,
  bindings: Record<string, unknown>,
): Promise<Row[]> {
  const result = (await db.raw(sql, bindings as never).options({ name })) as { rows: Row[] };
  return result.rows;
}

/**
 * Like `queryPrepared`, for many rows of many columns: each row is a list of texts as Postgres writes them, absent
 * values null. Objects with forty properties would take an eighth longer to read, and more to change. Without a name
 * the statement is not prepared.
 */
export async function queryTexts(
  db: Database,
  name: string | undefined,
  sql: string,
  bindings: Record<string, unknown>,
): Promise<(string | null)[][]> {
  const options = { ...(name !== undefined && { name }), rowMode: 'array', types: TEXTS };
  const result = (await db.raw(sql, bindings as never).options(options)) as { rows: (string | null)[][] };
  return result.rows;
}

const TEXTS = { getTypeParser: () => (text: string) => text };
