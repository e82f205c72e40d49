import type { Period } from '../domain/period';
import { validationError } from '../errors';
import { toIsoTime } from '../time';
import { codeOf } from './availability';
import { queryRows, type Database } from './query';

/**
 * The columns that order a list, with their types in SQL. Their values together are never the same twice, so each part
 * of the list begins after the last row of the part before, without repeats or gaps when rows are added meanwhile. With
 * an index on these columns every part costs the same.
 */
export type SortKey = readonly (readonly [column: string, type: string])[];

/** The default order of lists. */
export const BY_CREATED = [
  ['created', 'timestamptz'],
  ['id', 'uuid'],
] as const satisfies SortKey;
/** The order of a project's orders: the index orders_project_created. */
export const BY_SEQUENCE = [
  ['created', 'timestamptz'],
  ['sequence', 'bigint'],
] as const satisfies SortKey;

/** A row's place in a list: the values of its sort key, as Postgres writes them. */
export type PagePosition = readonly string[];

type Direction = 'asc' | 'desc';

/** The SQL of a sort key: the order, the position of a row, and the condition for the rows `after` a position. */
export function keyset(key: SortKey, direction: Direction, after: PagePosition | undefined) {
  const columns = key.map(([column]) => column);
  const values = key.map(([, type], n) => `cast(:after_${n} as ${type})`);
  return {
    order: columns.map((column) => `${column} ${direction}`).join(', '),
    position: `json_build_array(${columns.map((column) => `cast(${column} as text)`).join(', ')})`,
    isAfter: after && `(${columns.join(', ')}) ${direction === 'asc' ? '>' : '<'} (${values.join(', ')})`,
    bindings: Object.fromEntries((after ?? []).map((value, n) => [`after_${n}`, value])),
  };
}

/** A list: its statement, conditions on the statement's columns, and its order. */
export interface List {
  /** A function of the conditions, the order and the limit where the statement has to apply them itself. */
  select: string | ((part: string) => string);
  /** In SQL; those that are `false` do not count. */
  where?: readonly (string | false)[];
  /** Columns with their values; those that are `undefined` do not count. */
  equal?: Record<string, unknown>;
  bindings?: Record<string, unknown>;
  key: SortKey;
  direction?: Direction;
}

/** Limits of one read: rows, and bytes of these rows as JSON. */
export interface PartLimits {
  rows: number;
  bytes?: number;
}

/** Consecutive rows of a list. */
export interface Part<Row> {
  rows: Row[];
  /** Whether there are no further ones. */
  is_last: boolean;
  /** The position of the last row; absent without rows. */
  end?: PagePosition;
}

/**
 * The rows of a list after a position, or the first ones: one at least, also when it is larger than the bytes. Postgres
 * writes each row as JSON and counts the bytes: large rows must not reach this process all at once (rules 20.21).
 */
export async function readPart<Row>(
  db: Database,
  { select, where = [], equal = {}, bindings, key, direction = 'desc' }: List,
  limits: PartLimits,
  after?: PagePosition,
): Promise<Part<Row>> {
  const { order, position, isAfter, bindings: bindings_after } = keyset(key, direction, after);
  const equals = Object.keys(equal).map((column) => equal[column] !== undefined && `${column} = :${column}`);
  const conditions = [...where, ...equals, isAfter ?? false].filter((condition) => condition !== false);
  const part_sql = `${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''} order by ${order} limit :rows`;
  const found = await queryRows<{ json: string; position: string[]; rows_in_all: number }>(
    db,
    `select json, position, rows_in_all from (
       select *, count(*) over () as rows_in_all,
         coalesce(sum(octet_length(json)) over (order by n rows between unbounded preceding and 1 preceding), 0) as bytes_before
       from (
         select row_number() over (order by ${order}) as n, cast(row_to_json(list) as text) as json, ${position} as position
         from (
           select * from (${typeof select === 'string' ? select : select(part_sql)}) list ${part_sql}
         ) list
       ) numbered
     ) sized where bytes_before < :bytes order by n`,
    // One row more, to know whether this part is the last.
    { ...equal, ...bindings, ...bindings_after, rows: limits.rows + 1, bytes: limits.bytes ?? Number.MAX_SAFE_INTEGER },
  );
  const part = found.slice(0, limits.rows);
  const end = part.at(-1);
  return {
    rows: JSON.parse(`[${part.map(({ json }) => json).join(',')}]`) as Row[],
    is_last: end === undefined || part.length === end.rows_in_all,
    ...(end && { end: end.position }),
  };
}

/** All rows of a list in parts, none of them empty. */
export async function* allParts<Row>(
  read: (after: PagePosition | undefined) => Promise<Part<Row>>,
): AsyncGenerator<Row[]> {
  for (let after: PagePosition | undefined; ;) {
    const { rows, is_last, end } = await read(after);
    if (rows.length > 0) yield rows;
    if (is_last) return;
    after = end;
  }
}

/** The requested page of a list. */
export interface PageRequest {
  limit: number;
  /** `next` of the page before; absent: the first page. */
  cursor?: string | undefined;
}

/** A page of a list. `next` is absent on the last one. */
export interface ListPage<Row> {
  items: Row[];
  next?: string;
}

/**
 * A page of a list. The cursor holds the position at which the page before ended. Throws a ValidationError for an
 * invalid cursor.
 */
export async function readPage<Row>(db: Database, { limit, cursor }: PageRequest, list: List): Promise<ListPage<Row>> {
  const after = cursor === undefined ? undefined : positionOf(cursor, list.key.length);
  const { rows, is_last, end } = await readPart<Row>(db, list, { rows: limit }, after).catch((error: unknown) => {
    // The cursor holds a text that its column's type cannot be.
    if (after && codeOf(error)?.startsWith('22') === true) throw wrongCursor();
    throw error;
  });
  return { items: rows, ...(!is_last && { next: Buffer.from(JSON.stringify(end)).toString('base64url') }) };
}

const wrongCursor = () => validationError('cursor', 'Expected the value of `next` of the page before.');

function positionOf(cursor: string, length: number): PagePosition {
  try {
    const position: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const isPosition =
      Array.isArray(position) && position.length === length && position.every((value) => typeof value === 'string');
    if (isPosition) return position as string[];
  } catch {
    // Not JSON.
  }
  throw wrongCursor();
}

/** The requested part of a list of objects that a project created in a period. */
export interface ListPart {
  period: Period;
  limits: PartLimits;
  after: PagePosition | undefined;
}

/** Conditions and bindings of such a list. */
export const createdIn = (project_id: string, { since, until }: Period) => ({
  where: ['project_id = :project_id', 'created between :since and :until'],
  bindings: { project_id, since: toIsoTime(since), until: toIsoTime(until) },
});
