import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { connectDatabase, type Database } from '../db/connection';
import { requestSearchRebuild } from '../db/search';
import { quantile } from './figures';
import { PAID_ORDER, createRows, type Row } from './rows';
import {
  OWN_OF_TEN,
  changeOrders,
  continueIndexing,
  isIndexBehind,
  someOrderIds,
  stopIndexing,
  writeBenchOrders,
} from './search-orders';
import type { Receiver } from './receiver';
import type { BenchStack } from './stack';

/** How much is measured: samples of each query, seconds of changes, rounds and seconds of paid orders. */
export interface SearchPlan {
  rows: number;
  samples: number;
  change_seconds: number;
  rounds: number;
  paid_seconds: number;
}

/** Milliseconds. */
export interface Quantiles {
  p50: number;
  p95: number;
  p99: number;
}

export interface SearchFigures {
  rows: number;
  own_rows: number;
  rebuild_seconds: number;
  /** From the change of an order until it is found. */
  found: Quantiles;
  queries: { name: string; idle: Quantiles; indexing: Quantiles }[];
  reports: { name: string; rows: number; rows_per_second: number; memory_before: number; memory_max: number }[];
  /** Paid orders by what the index does meanwhile. */
  paid: { name: string; latency: Quantiles }[];
}

/** Changes of orders a second, and how many at a time. */
const CHANGES_A_SECOND = 300;
const CHANGES_AT_ONCE = 30;
/** Milliseconds between two questions whether a change is found. */
const FOUND_EVERY_MS = 10;
const PAID_A_SECOND = 20;
/** Milliseconds between two looks at the memory of the api. */
const MEMORY_EVERY_MS = 100;

interface Search {
  query: string;
  sort?: string;
  size?: number;
}

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

/** Measures search on a stack of its own, whose index is empty. `say` tells how far it is. */
export async function measureSearch(
  stack: BenchStack,
  receiver: Receiver,
  plan: SearchPlan,
  say: (text: string) => void,
): Promise<SearchFigures> {
  const db = connectDatabase(stack.facts.postgres_url);
  const merchant = searchingMerchant(stack);
  const { rows, close } = await createRows(stack, receiver);
  try {
    const project_id = await merchant.projectId('test_api_key');
    say(`writing ${plan.rows} orders`);
    await writeBenchOrders(db, plan.rows, { project_id, other_project_id: await merchant.projectId('live_api_key') });
    say('building the index');
    const rebuild_seconds = await rebuild(db);
    say('queries, while nothing changes');
    const idle = await queryAll(merchant, plan);
    say(`queries, at ${CHANGES_A_SECOND} changes a second`);
    const changing = startChanges(db, await someOrderIds(db, project_id, 50_000), merchant);
    const indexing = await Promise.all([queryAll(merchant, plan), sleep(plan.change_seconds * 1_000)]);
    const found = await changing.stop();
    say('reports');
    const reports = [
      await measureReport(stack, merchant, 'all orders, by Postgres', '*'),
      await measureReport(stack, merchant, 'paid transactions, by the index', 'transaction.status:accepted'),
    ];
    const paid = await measurePaidOrders(
      db,
      stack,
      rows.find(({ name }) => name === PAID_ORDER)!,
      plan,
      say,
    );
    return {
      rows: plan.rows,
      own_rows: Math.round((plan.rows * OWN_OF_TEN) / 10),
      rebuild_seconds,
      found: quantiles(found),
      queries: QUERIES.map(({ name }, n) => ({ name, idle: idle[n]!, indexing: indexing[0][n]! })),
      reports,
      paid,
    };
  } finally {
    await close();
    await merchant.close();
    await db.destroy();
  }
}

type Merchant = ReturnType<typeof searchingMerchant>;

/** Searches over kept-alive connections. */
function searchingMerchant({ facts }: BenchStack) {
  const agent = new Agent({ keepAliveTimeout: 60_000, bodyTimeout: 0, headersTimeout: 0 });
  const headersOf = (key: 'test_api_key' | 'live_api_key') => ({
    authorization: `Basic ${Buffer.from(`${facts[key]}:`).toString('base64')}`,
    'content-type': 'application/json',
  });
  const post = async (path: string, search: Search) => {
    const answer = await request(facts.api_url + path, {
      dispatcher: agent,
      method: 'POST',
      headers: headersOf('test_api_key'),
      body: JSON.stringify(search),
    });
    if (answer.statusCode !== 200) throw new Error(`a search was to be answered: ${answer.statusCode}`);
    return answer.body;
  };
  return {
    async projectId(key: 'test_api_key' | 'live_api_key'): Promise<string> {
      const url = `${facts.api_url}/v1/merchants/self/projects/self/`;
      const { body } = await request(url, { dispatcher: agent, headers: headersOf(key) });
      return ((await body.json()) as { id: string }).id;
    },
    async search(search: Search): Promise<{ hits: number }> {
      return (await (await post('/v1/search/orders/', search)).json()) as { hits: number };
    },
    report: (query: string) => post('/v1/search/orders/?format=csv', { query }),
    close: () => agent.destroy(),
  };
}

/** Seconds until the index has all orders. */
async function rebuild(db: Database): Promise<number> {
  const began = performance.now();
  await requestSearchRebuild(db, Date.now());
  await untilIndexed(db);
  return (performance.now() - began) / 1_000;
}

async function untilIndexed(db: Database): Promise<void> {
  while (await isIndexBehind(db)) await sleep(200);
}

/** Asks each kind of query in turn, one at a time. */
async function queryAll(merchant: Merchant, { samples, rows }: SearchPlan): Promise<Quantiles[]> {
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
function startChanges(db: Database, order_ids: readonly string[], merchant: Merchant) {
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

/** Downloads a report, and watches the memory of the api. */
async function measureReport({ facts }: BenchStack, merchant: Merchant, name: string, query: string) {
  const memory = () => residentMebibytes(facts.pids['api']);
  const memory_before = memory();
  let memory_max = memory_before;
  const watch = setInterval(() => (memory_max = Math.max(memory_max, memory())), MEMORY_EVERY_MS);
  try {
    const began = performance.now();
    let lines = 0;
    for await (const chunk of await merchant.report(query)) {
      for (const byte of chunk as Buffer) if (byte === 10) lines += 1;
    }
    const rows = lines - 1;
    return { name, rows, rows_per_second: (rows * 1_000) / (performance.now() - began), memory_before, memory_max };
  } finally {
    clearInterval(watch);
  }
}

/** Resident memory of a process, from /proc; 0 where there is none. */
function residentMebibytes(pid: number | undefined): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}

/** Paid orders at a steady pace in turns: with the index, without, and while Meilisearch does not answer. */
async function measurePaidOrders(
  db: Database,
  stack: BenchStack,
  row: Row,
  { rounds, paid_seconds }: SearchPlan,
  say: (text: string) => void,
): Promise<SearchFigures['paid']> {
  const meilisearch = (signal: 'SIGSTOP' | 'SIGCONT') => void process.kill(stack.facts.pids['meilisearch']!, signal);
  const modes = [
    { name: 'indexing', begin: async () => undefined, end: async () => undefined },
    { name: 'no indexing', begin: () => stopIndexing(db), end: () => continueIndexing(db) },
    {
      name: 'Meilisearch away',
      begin: async () => meilisearch('SIGSTOP'),
      end: async () => meilisearch('SIGCONT'),
    },
  ];
  const taken = new Map(modes.map(({ name }) => [name, [] as number[]]));
  await paidOrders(row, 2);
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, begin, end } of round % 2 === 0 ? modes : modes.toReversed()) {
      say(`paid orders, ${name}, round ${round + 1} of ${rounds}`);
      await begin();
      try {
        taken.get(name)!.push(...(await paidOrders(row, paid_seconds)));
      } finally {
        await end();
      }
      await untilIndexed(db);
    }
  }
  return modes.map(({ name }) => ({ name, latency: quantiles(taken.get(name)!) }));
}

async function paidOrders(row: Row, seconds: number): Promise<number[]> {
  const running: Promise<number>[] = [];
  const began = performance.now();
  for (let n = 0; n < seconds * PAID_A_SECOND; n += 1) {
    await sleep(Math.max(0, began + (n * 1_000) / PAID_A_SECOND - performance.now()));
    const start = performance.now();
    const one = row.once(undefined).then(() => performance.now() - start);
    // A failure is reported at the end, by the wait for all of them.
    one.catch(() => undefined);
    running.push(one);
  }
  return await Promise.all(running);
}

const quantiles = (values: readonly number[]): Quantiles => ({
  p50: quantile(values, 0.5),
  p95: quantile(values, 0.95),
  p99: quantile(values, 0.99),
});
