import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import knex, { type Knex } from 'knex';
import { types, type Client } from 'pg';
import type { LabelsOf } from '../metrics/catalogue';
import { gauge, increment } from '../metrics/recorder';
import { traceStatements } from '../tracing/statements';
import { isTracing } from '../tracing/tracing';

/** The database, or one SQL transaction of it. */
export type Database = Knex;
/** One SQL transaction, for statements that must not run outside of one. */
export type SqlTransaction = Knex.Transaction;

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

/**
 * A list of texts in SQL, as after `in`: written out instead of bound, so that a partial index with the same list
 * serves.
 */
export const sqlList = (texts: readonly string[]) => `(${texts.map((text) => `'${text}'`).join(', ')})`;

/** The assignment of `modified` in an update. It never goes back, although clocks of machines and sandboxes differ. */
export const modifiedAt = (table: string, now = ':now') =>
  `modified = greatest(${table}.modified, ${now}::timestamptz)`;

/**
 * The assignment of the next version and of its `modified` in an update. Two versions never have the same `modified`:
 * receivers know by it which of two answers is newer (rules 4.15).
 */
export const nextVersion = (table: string, now = ':now') =>
  `version = ${table}.version + 1, modified = greatest(${table}.modified + interval '1 microsecond', ${now}::timestamptz)`;

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
    if (codeOf(error) === READ_ONLY) read_only_at = performance.now();
    increment('payments_db_errors_total', { class: classOf(error) });
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

/** The address with the password that a file has. A line break at its end does not belong to it. */
export function withPassword(postgres_url: string, file_text: string): string {
  const url = new URL(postgres_url);
  url.password = encodeURIComponent(file_text.replace(/\r?\n$/, ''));
  return url.href;
}

type ErrorClass = LabelsOf<'payments_db_errors_total'>['class'];

/** Codes of Node for a certificate of the server that it does not accept. */
const REFUSED_CERTIFICATE = /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT_)/;

/** Classes of SQLSTATEs and of the codes of Node; the first that fits. */
const ERROR_CLASSES: readonly (readonly [RegExp, ErrorClass])[] = [
  [/^25006$/, 'read_only'],
  [/^(40001|40P01)$/, 'conflict'],
  [/^53...$/, 'resources'],
  [/^(25P03|55P03|57014)$/, 'timeout'],
  [/^57P..$/, 'shutdown'],
  [/^23...$/, 'constraint'],
  [/^(08...|28...|E[A-Z_]+)$/, 'connection'],
  [REFUSED_CERTIFICATE, 'connection'],
];

function classOf(error: unknown): ErrorClass {
  const code = codeOf(error);
  if (code === undefined) {
    if (error instanceof Error && /timeout/.test(error.message)) return 'timeout';
    return isUnavailable(error) ? 'connection' : 'other';
  }
  return ERROR_CLASSES.find(([codes]) => codes.test(code))?.[1] ?? 'other';
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
    increment('payments_db_errors_total', { class: is_timeout ? 'pool' : classOf(error) });
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

/** SQLSTATE of a server that cannot write: a standby, or a primary that was set to read-only. */
const READ_ONLY = '25006';
/**
 * SQLSTATE: no connection, read-only, role or password refused (they may be changed at this moment), a conflict with
 * other transactions, no disk, memory or connection left, a lock or a statement that took too long, the server stops or
 * starts, or has ended a session that was idle.
 */
const AWAY_STATES = /^(08...|25006|25P03|28...|40001|40P01|53...|55P03|57014|57P0[1235])$/;
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

/** A record that was read. Throws RecordMissing, with this name of it, if there is none. */
export function required<Stored>(found: Stored | undefined, name: string): Stored {
  if (found === undefined) throw new RecordMissing(name);
  return found;
}

/** Whether the database was unreachable or did not answer in time; the statement may have run. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof knex.KnexTimeoutError) return true;
  const code = codeOf(error);
  if (code !== undefined && (AWAY_STATES.test(code) || AWAY_CODES.includes(code) || REFUSED_CERTIFICATE.test(code))) {
    return true;
  }
  return error instanceof Error && AWAY_WORDS.test(error.message);
}

/** The SQLSTATE of an error of Postgres, or the code of Node. */
export function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

/** The database answers, but cannot be used. The message states why, without details of the installation. */
export class DatabaseNotReady extends Error {}

/** How far the clock of this machine may be from the database's. Milliseconds. */
const CLOCK_DIFFERENCE_MS = 1_000;

let clock_ahead_ms: number | undefined;

function noteClock(ahead_ms: number): void {
  if (clock_ahead_ms === undefined) {
    gauge('payments_clock_difference_seconds', () => [{ value: clock_ahead_ms! / 1_000, labels: {} }]);
  }
  clock_ahead_ms = ahead_ms;
}

/**
 * Throws unless the database can be written to, and its clock agrees with this machine's (rules 2.7): the readiness
 * probe. Throws DatabaseNotReady if it answers.
 */
export async function checkWritable(db: Database, machineTime: () => number = Date.now): Promise<void> {
  const asked_at = machineTime();
  // A standby and a read-only server refuse to advance a sequence.
  const { clock } = await requireRow<{ clock: number }>(
    db,
    `select nextval('readiness_checks'), extract(epoch from clock_timestamp())::float8 * 1000 as clock`,
  ).catch((error: unknown) => {
    throw codeOf(error) === READ_ONLY ? new DatabaseNotReady('is read-only', { cause: error }) : error;
  });
  // Of a slow statement the clock may have been read at any instant.
  const ahead_ms = Math.max(0, asked_at - clock) - Math.max(0, clock - machineTime());
  noteClock(ahead_ms);
  if (Math.abs(ahead_ms) > CLOCK_DIFFERENCE_MS) {
    throw new DatabaseNotReady(`has a clock that differs by ${(Math.abs(ahead_ms) / 1_000).toFixed(1)} s`);
  }
}

/**
 * Reads with a time limit for each statement, in milliseconds, in place of the role's; 0 is none. Set for one SQL transaction
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
export async function queryRows<Row>(
  db: Database,
  sql: string,
  bindings: Record<string, unknown> = {},
): Promise<Row[]> {
  const result = (await db.raw(sql, bindings as never)) as { rows: Row[] };
  return result.rows;
}

/** The values of a statement that selects one column. */
export async function queryColumn<Value>(
  db: Database,
  sql: string,
  bindings?: Record<string, unknown>,
): Promise<Value[]> {
  return (await queryRows<Record<string, Value>>(db, sql, bindings)).map((row) => Object.values(row)[0]!);
}

/** Whether a statement has rows: those it selects, or returns of what it wrote. */
export async function hasRows(db: Database, sql: string, bindings?: Record<string, unknown>): Promise<boolean> {
  return (await queryRows(db, sql, bindings)).length > 0;
}

/** The first row of a statement, or `undefined`. */
export async function queryRow<Row>(
  db: Database,
  sql: string,
  bindings?: Record<string, unknown>,
): Promise<Row | undefined> {
  return (await queryRows<Row>(db, sql, bindings))[0];
}

/** The row of a statement that always has one. Throws if it has none. */
export async function requireRow<Row>(db: Database, sql: string, bindings?: Record<string, unknown>): Promise<Row> {
  const row = await queryRow<Row>(db, sql, bindings);
  if (row === undefined) throw new Error('a statement that has one row had none');
  return row;
}

/** The value of a statement that always has one row, with one column. Throws if it has none. */
export async function queryValue<Value>(db: Database, sql: string, bindings?: Record<string, unknown>): Promise<Value> {
  const [value] = Object.values(await requireRow<Record<string, Value>>(db, sql, bindings));
  return value as Value;
}

/**
 * A statement of the hot path. It is translated here, once, and not by knex for each execution; each connection
 * prepares it once, under its name. The statement must list its columns: with `select *`, a migration that adds one
 * would break open connections. The function returns the rows, and throws when a binding is missing.
 */
export function prepared<Row>(
  name: string,
  sql: string,
): (db: Database, bindings: Record<string, unknown>) => Promise<Row[]> {
  const { text, names } = withNumberedBindings(sql);
  return async (db, bindings) => {
    const values = names.map((binding) => {
      if (bindings[binding] === undefined) throw new Error(`statement ${name}: there is no binding ${binding}`);
      return bindings[binding];
    });
    const client = db.client as KnexClient;
    const connection = await client.acquireConnection();
    try {
      const { response } = await client.query(connection, { sql: text, bindings: values, options: { name } });
      return response.rows as Row[];
    } finally {
      await client.releaseConnection(connection);
    }
  };
}

/** The parts of knex's client that execute a statement. In a SQL transaction it has that one's connection. */
interface KnexClient {
  acquireConnection(): Promise<unknown>;
  releaseConnection(connection: unknown): Promise<void>;
  query(
    connection: unknown,
    statement: { sql: string; bindings: unknown[]; options: { name: string } },
  ): Promise<{ response: { rows: unknown[] } }>;
}

/** A statement whose bindings are numbered as Postgres takes them, and their names in this order. */
function withNumberedBindings(sql: string): { text: string; names: string[] } {
  const names: string[] = [];
  const text = sql.replace(/(?<!:):([a-z]\w*)/g, (_found, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text, names };
}

/**
 * Like `queryRows`, for many rows of many columns: each row is a list of texts as Postgres writes them, absent
 * values null. Objects with forty properties would take an eighth longer to read, and more to change. With a name the
 * statement is prepared (`prepared`).
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
