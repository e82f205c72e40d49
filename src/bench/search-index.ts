import type { Database } from '../db/connection';
import { requestSearchRebuild } from '../db/search/search';
import { watchMemory } from './memory';
import type { SearchMerchant } from './search-merchant';
import { OWN_OF_TEN, untilIndexed, writeBenchOrders } from './search-orders';
import type { BenchStack } from './stack';

export interface IndexFigures {
  rows: number;
  own_rows: number;
  seconds: number;
  /** Of Meilisearch: at most while it built the index, and what is not from files. */
  memory: number;
}

/** Writes the orders and builds their index. */
export async function measureIndex(
  db: Database,
  { facts }: BenchStack,
  merchant: SearchMerchant,
  rows: number,
  say: (text: string) => void,
): Promise<IndexFigures> {
  const project_id = await merchant.projectId('test_api_key');
  const other_project_id = await merchant.projectId('live_api_key');
  say(`writing ${rows} orders`);
  await writeBenchOrders(db, rows, { project_id, other_project_id });
  say('building the index');
  const watch = watchMemory(facts.pids['meilisearch'], 'RssAnon');
  try {
    const began = performance.now();
    await requestSearchRebuild(db, Date.now());
    await untilIndexed(db, (written) => say(`${written} of ${rows} orders written to the index`));
    const seconds = (performance.now() - began) / 1_000;
    return { rows, own_rows: Math.round((rows * OWN_OF_TEN) / 10), seconds, memory: watch.most() };
  } finally {
    watch.stop();
  }
}
