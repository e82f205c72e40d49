import type { SearchQuery } from './query';

/**
 * The same query in fewer levels: NOT only before a condition, no AND directly within an AND, no OR directly within an
 * OR, and no part twice in one of them. Conditions stay the same objects.
 */
export function simplify(query: SearchQuery, is_negated = false): SearchQuery {
  switch (query.op) {
    case 'not':
      return simplify(query.of, !is_negated);
    case 'and':
    case 'or': {
      // De Morgan: NOT (a AND b) is NOT a OR NOT b.
      const op = (query.op === 'and') === is_negated ? 'or' : 'and';
      const parts = query.of.map((one) => simplify(one, is_negated)).flatMap((one) => (one.op === op ? one.of : [one]));
      const seen = new Set<string>();
      const of = parts.filter((one) => seen.size < seen.add(JSON.stringify(one)).size);
      return of.length === 1 ? of[0]! : { op, of };
    }
    default:
      return is_negated ? { op: 'not', of: query } : query;
  }
}
