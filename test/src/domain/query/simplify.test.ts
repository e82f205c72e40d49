import fc from 'fast-check';
import { parseQuery } from '../../../../src/domain/query/parse';
import { matches, type SearchQuery, type SearchRow } from '../../../../src/domain/query/query';
import { simplify } from '../../../../src/domain/query/simplify';
import { RANDOM_TEXTS } from '../../../support/domain';

const leaf = fc.oneof(
  fc.constant<SearchQuery>({ op: 'all' }),
  fc.constantFrom('a', 'b', 'c').map((value): SearchQuery => ({ op: 'equals', field: 'words', value })),
);
const { query } = fc.letrec<{ query: SearchQuery }>((tie) => ({
  query: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    leaf,
    fc.record({ op: fc.constant('not' as const), of: tie('query') }),
    fc.record({ op: fc.constantFrom('and' as const, 'or' as const), of: fc.array(tie('query'), { minLength: 1 }) }),
  ),
}));

/** What stands where it must not, in a tree. */
function misplaced(one: SearchQuery): SearchQuery[] {
  if (one.op === 'not') return 'of' in one.of ? [one] : [];
  if (one.op !== 'and' && one.op !== 'or') return [];
  return [...one.of.filter(({ op }) => op === one.op), ...one.of.flatMap(misplaced)];
}

test('a simplified query means the same, has NOT before conditions only, and no AND in AND or OR in OR', () => {
  const rows: SearchRow[] = [[], ['a'], ['b'], ['a', 'c'], ['a', 'b', 'c']].map((words) => ({ words }));
  fc.assert(
    fc.property(query, (one) => {
      const simple = simplify(one);
      expect(rows.map((row) => matches(simple, row))).toEqual(rows.map((row) => matches(one, row)));
      expect(misplaced(simple)).toEqual([]);
    }),
    { numRuns: RANDOM_TEXTS / 25 },
  );
});

test('what is repeated in one AND or OR stands there once', () => {
  expect(parseQuery('a AND (b OR c OR b) AND a AND (b OR c)')).toEqual(parseQuery('a (b OR c)'));
});
