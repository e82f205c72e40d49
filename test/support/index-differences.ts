import { checkSearchIndex } from '../../activities/search-index';
import { connectDatabase, queryRows } from '../../src/db/connection';
import { SearchWriter } from '../../src/search/writer';
import type { RunningStack } from './stack';
import { until } from './until';

/**
 * Waits until every change of a stack's orders is in its search index, and answers in words how it differs from the
 * record then.
 */
export async function indexDifferences(
  place: Pick<RunningStack, 'postgres_url' | 'meilisearch_url' | 'meilisearch_key'>,
): Promise<string[]> {
  const db = connectDatabase(place.postgres_url, { pool_max: 1 });
  try {
    await until('every change is in the search index', async () => {
      const waiting = await queryRows(db, 'select 1 from search_outbox limit 1', {});
      return waiting.length === 0;
    });
    const index = new SearchWriter({ url: place.meilisearch_url, master_key: place.meilisearch_key });
    const { missing, different, unknown, refused } = await checkSearchIndex({ db, index });
    return Object.entries({ missing, different, unknown, refused }).flatMap(([what, orders]) =>
      orders === 0 ? [] : [`${orders} orders are ${what} in the search index`],
    );
  } finally {
    await db.destroy();
  }
}
