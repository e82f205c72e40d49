import type { Knex } from 'knex';
import { retryLocks } from './retry-locks';

/** Rows that one statement reads: it locks those that it fills, as a rule for some milliseconds. */
const BATCH = 1_000;

/** A column to fill; all parts are SQL. */
interface ColumnToFill {
  table: string;
  /** The columns of the primary key, by which the table is read. */
  key: readonly string[];
  /** The rows to fill; all, if absent. */
  where?: string;
  column: string;
  /** Of the row `t`. */
  value: string;
}

/**
 * Fills a column that a migration has added to a large table, while the service writes to it: in the order of the primary
 * key, in batches. Call it from a migration with `transaction: false`, after one that made a trigger for the rows that
 * processes of the release before insert. After an interruption it may be called again: rows that are filled are not
 * written twice.
 */
export async function fillColumn(
  knex: Knex,
  { table, key, where = 'true', column, value }: ColumnToFill,
): Promise<void> {
  const columns = key.join(', ');
  // By the key: a row that is changed meanwhile is another place of the table afterwards.
  const isInBatch = key.map((name) => `t.${name} = batch.${name}`).join(' and ');
  let after: string[] | undefined;
  do {
    const bindings = after ?? [];
    const sql = `with batch as materialized (
         select ${columns} from ${table}
         ${after === undefined ? '' : `where (${columns}) > (${key.map(() => '?').join(', ')})`}
         order by ${columns} limit ${BATCH}
       ), filled as (
         update ${table} t set ${column} = ${value} from batch
         where ${isInBatch} and t.${column} is null and ${where}
       )
       select json_build_array(${columns}) as key from batch
       order by ${columns} offset (select greatest(count(*) - 1, 0) from batch)`;
    // A lock that is not free costs one batch again, not all that were read.
    const { rows } = (await retryLocks(async () => await knex.raw(sql, bindings))) as { rows: { key: string[] }[] };
    after = rows[0]?.key;
  } while (after !== undefined);
}
