import type { FieldName } from './fields';

/**
 * The subject of a condition: a field, or the words of the order's references, description, customer names and e-mail.
 */
export type Subject = FieldName | 'words';

/** One end of a range; instants in epoch milliseconds. */
export interface Bound {
  readonly value: number;
  readonly inclusive: boolean;
}

/** A condition on one field. Texts are folded, instants and days are ranges. */
export type Condition =
  | { readonly op: 'equals'; readonly field: Subject; readonly value: string | number }
  | { readonly op: 'prefix'; readonly field: Subject; readonly value: string }
  | { readonly op: 'range'; readonly field: FieldName; readonly from?: Bound; readonly to?: Bound }
  | { readonly op: 'absent'; readonly field: FieldName };

/** A search query, as parseQuery reads it. */
export type SearchQuery =
  | Condition
  | { readonly op: 'all' }
  | { readonly op: 'and' | 'or'; readonly of: readonly SearchQuery[] }
  | { readonly op: 'not'; readonly of: SearchQuery };

/**
 * The subject of a query: an order together with one of its transactions, or alone while it has none. Texts are
 * folded, instants are epoch milliseconds, what is absent is left out. `words` are those of the order.
 */
export type SearchRow = { readonly [F in Subject]?: string | number | readonly string[] };

/** Whether the row meets the query. */
export function matches(query: SearchQuery, row: SearchRow): boolean {
  switch (query.op) {
    case 'all':
      return true;
    case 'and':
      return query.of.every((one) => matches(one, row));
    case 'or':
      return query.of.some((one) => matches(one, row));
    case 'not':
      return !matches(query.of, row);
    case 'absent':
      return row[query.field] === undefined;
    case 'equals':
      return valuesOf(row[query.field]).includes(query.value);
    case 'prefix':
      return valuesOf(row[query.field]).some((value) => typeof value === 'string' && value.startsWith(query.value));
    case 'range':
      return isWithin(row[query.field], query);
  }
}

function valuesOf(value: SearchRow[Subject]): readonly (string | number)[] {
  if (value === undefined) return [];
  return typeof value === 'object' ? value : [value];
}

function isWithin(value: SearchRow[Subject], { from, to }: { from?: Bound; to?: Bound }): boolean {
  if (typeof value !== 'number') return false;
  const isAfter = from === undefined || (from.inclusive ? value >= from.value : value > from.value);
  return isAfter && (to === undefined || (to.inclusive ? value <= to.value : value < to.value));
}

/** The conditions of a query, in its order. */
export function conditionsOf(query: SearchQuery): Condition[] {
  switch (query.op) {
    case 'all':
      return [];
    case 'and':
    case 'or':
      return query.of.flatMap(conditionsOf);
    case 'not':
      return conditionsOf(query.of);
    default:
      return [query];
  }
}
