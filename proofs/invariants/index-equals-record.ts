import { checkSearchIndex } from '../../activities/search-index';
import { withDatabase } from '../../src/db/connection';
import { queryRows } from '../../src/db/query';
import { SearchWriter } from '../../src/search/writer';
import type { RunningStack } from '../../test/support/stack';
import { until } from '../../test/support/waits';
import type { Invariant } from './invariant';

export const indexEqualsRecord: Invariant = {
  name: 'index',
  title: 'The search index equals the record, row by row.',
  eventual: true,
  // Throws while changes still wait for the index.
  violations: ({ stack }) => indexDifferences(stack).catch((error: unknown) => [String(error)]),
};

/**
 * Waits until every change of a stack's orders is in its search index, and answers in words how it differs from the
 * record then.
 */
export async function indexDifferences(place: Pick<RunningStack, 'postgres_url' | 'search_server'>): Promise<string[]> {
  return await withDatabase(place.postgres_url, async (db) => {
    await until('every change is in the search index', async () => {
      const waiting = await queryRows(db, 'select 1 from search_outbox limit 1');
      return waiting.length === 0;
    });
    const index = new SearchWriter(place.search_server);
    const { missing, different, unknown, refused } = await checkSearchIndex({ db, index });
    return Object.entries({ missing, different, unknown, refused }).flatMap(([what, orders]) =>
      orders === 0 ? [] : [`${orders} orders are ${what} in the search index`],
    );
  });
}
