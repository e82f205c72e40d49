import type { Bound, Condition, SearchQuery } from '../domain/query/query';
import { PREFIX_MAX, encoded, stored } from './text';

/**
 * A query as filters of the index, within one project; a row must match all of them. They find every row that matches
 * the query, and rarely others: the caller checks the results against the record. Only encoded values in quotes and
 * numbers of the query reach the index.
 */
export function filterOf(project_id: string, query: SearchQuery, ...more: string[]): string[] {
  const conditions = [filter(query, true), ...more].filter((one) => one !== EVERYTHING);
  return [`project_id = ${quoted(stored(project_id))}`, ...conditions];
}

/** Filters that match every row, and none. */
const EVERYTHING = 'project_id EXISTS';
const NOTHING = 'project_id NOT EXISTS';

/** `wide`: may find too much where it cannot be exact; below NOT it may find too little instead. */
function filter(query: SearchQuery, wide: boolean): string {
  switch (query.op) {
    case 'all':
      return EVERYTHING;
    case 'and':
      // AND binds closer than OR. The index reads 48 parentheses, one in the other, so there is none that is not
      // needed.
      return query.of.map((one) => (one.op === 'or' ? `(${filter(one, wide)})` : filter(one, wide))).join(' AND ');
    case 'or':
      return query.of.map((one) => filter(one, wide)).join(' OR ');
    case 'not':
      return `NOT (${filter(query.of, !wide)})`;
    default:
      return condition(query, wide);
  }
}

function condition(query: Condition, wide: boolean): string {
  const { field } = query;
  switch (query.op) {
    case 'absent':
      return `${field} NOT EXISTS`;
    case 'equals':
      return `${field} = ${typeof query.value === 'number' ? query.value : quoted(stored(query.value))}`;
    case 'prefix': {
      const text = encoded(query.value);
      if (text.length > PREFIX_MAX && !wide) return NOTHING;
      return `${field} STARTS WITH ${quoted(text.slice(0, PREFIX_MAX))}`;
    }
    case 'range':
      return [...end(field, '>', query.from), ...end(field, '<', query.to)].join(' AND ');
  }
}

const end = (field: string, sign: '<' | '>', bound: Bound | undefined) =>
  bound === undefined ? [] : [`${field} ${sign}${bound.inclusive ? '=' : ''} ${bound.value}`];

/** A text as a filter writes it. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
