import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/connection';
import { quantiles, type Quantiles } from './figures';
import type { Search, SearchMerchant } from './search-merchant';
import { changeOrders, someOrderIds } from './search-orders';

export interface QueryFigures {
  /** From the change of an order until it is found. */
  found: Quantiles;
  queries: { name: string; idle: Quantiles; indexing: Quantiles }[];
}

/** Changes of orders a second, and how many at a time. */
const CHANGES_A_SECOND = 300;
const CHANGES_AT_ONCE = 30;
/**
 * Milliseconds between two questions whether a change is found: a measured time may be too long by as much. At 10 ms
 * these questions alone are a hundred searches a second, beside the queries that are measured.
 */
const FOUND_EVERY_MS = 50;
/** Orders that are changed, in turn. */
const CHANGED_ORDERS = 50_000;

/** The kinds of query; `n` tells one sample from another. */
const QUERIES: { name: string; search: (n: number, rows: number) => Search }[] = [
  { name: 'the newest 20', search: () => ({ query: '*' }) },
  {
    name: 'status and dates',
    search: (n) => ({
      query: `status:completed created:[2026-01-${String(1 + (n % 20)).padStart(2, '0')} TO 2026-02-10]`,
    }),
  },
  { name: 'an exact reference', search: (n, rows) => ({ query: `merchant_order_id:B-${1 + ((n * 7_919) % rows)}` }) },
  { name: 'two words', search: (n) => ({ query: n % 2 === 0 ? 'blue books' : 'red shirt' }) },
  {
    name: 'method and amounts, by amount',
    search: (n) => ({
      query: `transaction.payment_method:apple-pay transaction.amount:[${1_000 + n} TO ${20_000 + n}]`,
      sort: 'amount desc',
    }),
  },
];

/** Measures queries while nothing changes and at a steady pace of changes, and how soon these are found. */
export async function measureQueries(
  db: Database,
  merchant: SearchMerchant,
  { rows, samples, change_seconds }: { rows: number; samples: number; change_seconds: number },
): Promise<QueryFigures> {
  const idle = await queryAll(merchant, samples, rows);
  const project_id = await merchant.projectId('test_api_key');
  const changing = startChanges(db, await someOrderIds(db, project_id, CHANGED_ORDERS), merchant);
  const [indexing] = await Promise.all([queryAll(merchant, samples, rows), sleep(change_seconds * 1_000)]);
  const found = await changing.stop();
  return {
    found: quantiles(found),
    queries: QUERIES.map(({ name }, n) => ({ name, idle: idle[n]!, indexing: indexing[n]! })),
  };
}

/** Asks each kind of query in turn, one at a time. */
async function queryAll(merchant: SearchMerchant, samples: number, rows: number): Promise<Quantiles[]> {
  const taken = QUERIES.map((): number[] => []);
  // The first of each warms connections and caches.
  for (let n = -5; n < samples; n += 1) {
    for (const [kind, { search }] of QUERIES.entries()) {
      const began = performance.now();
      await merchant.search(search(n + 5, rows));
      if (n >= 0) taken[kind]!.push(performance.now() - began);
    }
  }
  return taken.map(quantiles);
}

/**
 * Changes orders at a steady pace; `stop` answers how long each change with a new reference took to be found, in
 * milliseconds.
 */
function startChanges(db: Database, order_ids: readonly string[], merchant: SearchMerchant) {
  let stopped = false;
  const found: Promise<number>[] = [];
  const untilFound = async (merchant_order_id: string, changed: number) => {
    for (;;) {
      if ((await merchant.search({ query: `merchant_order_id:${merchant_order_id}`, size: 1 })).hits > 0) {
        return performance.now() - changed;
      }
      await sleep(FOUND_EVERY_MS);
    }
  };
  const run = async () => {
    const pause_ms = (1_000 * CHANGES_AT_ONCE) / CHANGES_A_SECOND;
    const began = performance.now();
    for (let n = 0; !stopped; n += 1) {
      const from = (n * CHANGES_AT_ONCE) % (order_ids.length - CHANGES_AT_ONCE);
      const batch = order_ids.slice(from, from + CHANGES_AT_ONCE);
      // Every third statement has a change whose way is followed.
      const reference = n % 3 === 0 ? { order_id: batch[0]!, merchant_order_id: `found-${n}` } : undefined;
      await changeOrders(db, batch, reference);
      if (reference !== undefined) {
        const one = untilFound(reference.merchant_order_id, performance.now());
        // A failure is reported at the end, by the wait for all of them.
        one.catch(() => undefined);
        found.push(one);
      }
      await sleep(Math.max(0, began + (n + 1) * pause_ms - performance.now()));
    }
  };
  const running = run();
  return {
    async stop(): Promise<number[]> {
      stopped = true;
      await running;
      return await Promise.all(found);
    },
  };
}
