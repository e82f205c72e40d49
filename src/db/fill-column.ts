import type { Knex } from 'knex';

/** Rows that one statement reads: it locks those that it fills for some milliseconds. */
const BATCH = 5_000;

/** A column to fill; all parts are SQL. */
interface ColumnToFill {
  table: string;
  /** The columns of the primary key, by which the table is read. */
  key: string;
  /** The rows to fill; all, if absent. */
  where?: string;
  column: string;
  /** Of the row `t`. */
  value: string;
}

/**
 * Fills a column that a migration has added to a large table, while the service writes to it: in the order of the primary
 * key, in batches. Call it from a migration with `transaction: false`. After an interruption it may be called again:
 * rows that are filled are not written twice.
 */
export async function fillColumn(
  knex: Knex,
  { table, key, where = 'true', column, value }: ColumnToFill,
): Promise<void> {
  let after: string[] | undefined;
  do {
    const { rows } = (await knex.raw(
      `with batch as materialized (
         select ctid, ${key} from ${table}
         ${after === undefined ? '' : `where (${key}) > (${after.map(() => '?').join(', ')})`}
         order by ${key} limit ${BATCH}
       ), filled as (
         update ${table} t set ${column} = ${value} from batch
         where t.ctid = batch.ctid and t.${column} is null and ${where}
       )
       select json_build_array(${key}) as key from batch
       order by ${key} offset (select greatest(count(*) - 1, 0) from batch)`,
      after ?? [],
    )) as { rows: { key: string[] }[] };
    after = rows[0]?.key;
  } while (after !== undefined);
}
