import type { Knex } from 'knex';

/** The database, or one SQL transaction of it. */
export type Database = Knex;
/** One SQL transaction, for statements that must not run outside of one. */
export type SqlTransaction = Knex.Transaction;

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

/**
 * A list of texts in SQL, as after `in`: written out instead of bound, so that a partial index with the same list
 * serves.
 */
export const sqlList = (texts: readonly string[]) => `(${texts.map((text) => `'${text}'`).join(', ')})`;

/** The `modified` of an update. It never goes back, although clocks of machines and sandboxes differ. */
export const laterModifiedSql = (table: string, now = ':now') => `greatest(${table}.modified, ${now}::timestamptz)`;

/** The assignment of `modified` in an update that gives no new version. */
export const modifiedAtSql = (table: string, now?: string) => `modified = ${laterModifiedSql(table, now)}`;

/** The assignment of a `modified` that the row has never had. */
export const newModifiedSql = (table: string, now = ':now') =>
  `modified = greatest(${table}.modified + interval '1 microsecond', ${now}::timestamptz)`;

/**
 * The assignment of the next version and of its `modified` in an update. Two versions never have the same `modified`:
 * receivers know by it which of two answers is newer (rules 4.15).
 */
export const nextVersionSql = (table: string, now?: string) =>
  `version = ${table}.version + 1, ${newModifiedSql(table, now)}`;

/**
 * A required record does not exist: its commit is not visible yet, as during a failover, or it is lost (rules 10.19).
 */
export class RecordMissing extends Error {}

/** A record that was read. Throws RecordMissing, with this name of it, if there is none. */
export function required<Stored>(found: Stored | undefined, name: string): Stored {
  if (found === undefined) throw new RecordMissing(name);
  return found;
}
