import { queryRows, toIsoTime, type Database } from './connection';

/** What is read at a time: so many rows, and no more of them than have so many bytes as JSON. */
export interface PartLimits {
  rows: number;
  bytes: number;
}

/** The first rows of a statement. */
export interface Part<Row> {
  rows: Row[];
  /** Whether there are no further ones. */
  is_last: boolean;
}

/** A statement without order and limit. */
interface Selection {
  select: string;
  /** The table in it that `order` is about. */
  of: string;
  /** What follows `order by`, for columns of a table. */
  order: (table: string) => string;
  bindings: Record<string, unknown>;
}

/**
 * The first rows of a statement, in an order: one at least, also when it is larger than the bytes. Postgres counts the
 * bytes: rows whose size nobody knows beforehand must not reach this process all at once (rules 20.21).
 */
export async function queryPart<Row>(
  db: Database,
  { select, of, order, bindings }: Selection,
  limits: PartLimits,
): Promise<Part<Row>> {
  const rows = await queryRows<Row & { rows_in_all: number }>(
    db,
    `select * from (
       select list.*, count(*) over () as rows_in_all, coalesce(sum(octet_length(row_to_json(list)::text))
         over (order by ${order('list')} rows between unbounded preceding and 1 preceding), 0) as bytes_before
       from (${select} order by ${order(of)} limit :rows) list
     ) sized where bytes_before < :bytes order by ${order('sized')}`,
    { ...bindings, ...limits },
  );
  const rows_in_all = rows.at(-1)?.rows_in_all ?? 0;
  return { rows, is_last: rows_in_all < limits.rows && rows.length === rows_in_all };
}

/** Which part of a list is wanted: what was created in a period and follows `after`, the last one that was read. */
export interface ListPart<View> {
  /** Both ends included, epoch milliseconds. */
  since: number;
  until: number;
  after: View | undefined;
  limits: PartLimits;
}

/** Order and bindings of the part of a list. */
export function listed(
  project_id: string,
  { since, until, after }: Omit<ListPart<{ id: string; created: string }>, 'limits'>,
) {
  const bindings = {
    project_id,
    since: toIsoTime(since),
    until: after?.created ?? toIsoTime(until),
    ...(after && { id: after.id }),
  };
  return { order: (table: string) => `${table}.created desc, ${table}.id desc`, bindings };
}
