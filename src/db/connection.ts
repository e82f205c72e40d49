import knex, { type Knex } from 'knex';
import { types } from 'pg';

/** The database, or one SQL transaction of it. */
export type Database = Knex;

// Amounts are bigint columns of at most 2^53-1 (a CHECK), so a number holds each of them exactly.
types.setTypeParser(types.builtins.INT8, Number);
// Instants stay texts with their microseconds; a Date would cut them to milliseconds.
types.setTypeParser(types.builtins.TIMESTAMPTZ, (text) => text);

/** An instant as statements take it: epoch milliseconds in, ISO 8601 in UTC out. */
export const iso = (epoch_ms: number): string => new Date(epoch_ms).toISOString();

/** Opens the pool of one process. Close it with `db.destroy()`. `quiet`: knex does not tell of failed connections itself. */
export function connect(
  postgres_url: string,
  options: { pool_max?: number; quiet?: boolean; onStatement?: (sql: string) => void } = {},
): Database {
  const db = knex({
    client: 'pg',
    connection: { connectionString: postgres_url, options: '-c TimeZone=UTC', application_name: 'payments' },
    pool: { min: 0, max: options.pool_max ?? 10 },
    acquireConnectionTimeout: 10_000,
    ...(options.quiet ? { log: { warn() {}, error() {}, debug() {}, deprecate() {} } } : {}),
  });
  if (options.onStatement) {
    const onStatement = options.onStatement;
    db.on('query', (query: { sql: string }) => onStatement(query.sql));
  }
  return db;
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
 * As `rows`, for a statement of the hot path: each connection parses and plans it once, under its name. What it answers must
 * be named in it column by column: with `select *`, a migration that adds one would break the connections that are open.
 */
export async function preparedRows<Row>(db: Database, name: string, sql: string, bindings: Record<string, unknown>): Promise<Row[]> {
  const result = (await db.raw(sql, bindings as never).options({ name })) as { rows: Row[] };
  return result.rows;
}
