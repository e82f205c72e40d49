import { validationError } from '../errors';
import { queryRows, type Database } from './connection';

/** Which part of a list is wanted. */
export interface PageRequest {
  limit: number;
  /** `next` of the page before; absent: the first page. */
  cursor?: string | undefined;
}

/** A part of a list. `next` is absent on the last one. */
export interface Page<Row> {
  items: Row[];
  next?: string;
}

/** A list: its statement up to `where`, its conditions, and the columns that order it, the newest first. */
interface List {
  select: string;
  /** Conditions in SQL; those that are `false` do not count. */
  where: (string | false)[];
  bindings: Record<string, unknown>;
  /** Columns whose values, together, are never the same twice, with their types in SQL. */
  order: readonly (readonly [column: string, type: string])[];
}

/**
 * A page of a list, the newest first. The cursor holds where the page before ended, so that nothing comes twice or is
 * left out when rows are added meanwhile. Throws a ValidationError for a cursor that is none of this list.
 */
export async function pageOf<Row>(
  db: Database,
  { select, where, bindings, order }: List,
  { limit, cursor }: PageRequest,
): Promise<Page<Row>> {
  const after = cursor === undefined ? undefined : positionOf(cursor, order.length);
  const columns = order.map(([column]) => column);
  const conditions = [
    ...where.filter((condition) => condition !== false),
    ...(after
      ? [`(${columns.join(', ')}) < (${order.map(([, type], n) => `cast(:after_${n} as ${type})`).join(', ')})`]
      : []),
  ];
  const found = await queryRows<Row & { position: string[] }>(
    db,
    `select *, json_build_array(${columns.map((column) => `cast(${column} as text)`).join(', ')}) as position from (${select}) list
     ${conditions.length > 0 ? `where ${conditions.join(' and ')}` : ''}
     order by ${columns.map((column) => `${column} desc`).join(', ')} limit :rows`,
    { ...bindings, ...Object.fromEntries((after ?? []).map((value, n) => [`after_${n}`, value])), rows: limit + 1 },
  ).catch((error: unknown) => {
    // The cursor holds a text that its column's type cannot be.
    if (after && String((error as { code?: unknown }).code).startsWith('22')) throw wrongCursor();
    throw error;
  });
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return {
    items: items.map(withoutPosition),
    ...(found.length > limit && last && { next: Buffer.from(JSON.stringify(last.position)).toString('base64url') }),
  };
}

function withoutPosition<Row>(row: Row & { position: string[] }): Row {
  const { position: _position, ...rest } = row;
  return rest as unknown as Row;
}

const wrongCursor = () => validationError('cursor', 'Expected the value of `next` of the page before.');

function positionOf(cursor: string, length: number): string[] {
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
