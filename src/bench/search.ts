import { setTimeout as sleep } from 'node:timers/promises';
import { connectDatabase } from '../db/connection';
import type { Database } from '../db/query';
import { noteSearch, requestSearchRebuild } from '../db/search/search-outbox';
import { durationsAtPace, median, quantile } from './figures';
import { createApiClient } from './merchant';
import { machine, table } from './report';
import { PAID_ORDER, createRows, type BenchRow } from './rows';
import { changeOrders, continueIndexing, stopIndexing, untilIndexed, writeBenchOrders } from './search-orders';
import type { WebhookReceiver } from './receiver';
import type { BenchStack } from './stack';

/** How much is measured. */
export interface SearchPlan {
  /** Orders in the index. */
  rows: number;
  /** Of each query. */
  samples: number;
  /** Seconds of changes at a steady pace. */
  change_seconds: number;
  /** Of paid orders, and the seconds of each turn. */
  rounds: number;
  paid_seconds: number;
}

/** Milliseconds and rows a second, with a million rows on two cores. */
const AIM = { found_p99: 1_000, query_p99: 50, rows_per_second: 40_000, paid_p95_ratio: 1.05 };

/** Measures search on a stack of its own, whose index is empty. Returns the figures as Markdown. */
export async function measureSearch(
  stack: BenchStack,
  receiver: WebhookReceiver,
  plan: SearchPlan,
  say: (text: string) => void,
): Promise<string> {
  const db = connectDatabase(stack.facts.postgres_url);
  const merchant = searchMerchant(stack);
  const { rows, close } = await createRows(stack, receiver);
  try {
    const projects = [await merchant.projectId('test_api_key'), await merchant.projectId('live_api_key')] as const;
    say(`writing ${plan.rows} orders`);
    const order_ids = await writeBenchOrders(db, plan.rows, projects);
    say('building the index');
    const index = await measureIndex(db, plan.rows);
    say('measuring queries');
    const queries = await measureQueries(db, merchant, order_ids, plan);
    say('measuring reports');
    const reports = await measureReports(merchant);
    say('measuring paid orders');
    const paid = await measurePaidOrders(
      db,
      rows.find(({ name }) => name === PAID_ORDER)!,
      plan,
    );
    return [index, queries, reports, paid].join('\n\n');
  } finally {
    await close();
    await merchant.close();
    await db.destroy();
  }
}

type SearchMerchant = ReturnType<typeof searchMerchant>;

/** A merchant who searches over kept-alive connections. */
function searchMerchant(stack: BenchStack) {
  const { facts } = stack;
  const { send, close } = createApiClient(stack, { bodyTimeout: 0, headersTimeout: 0 });
  const search = async (body: object, query = '') => {
    const answer = await send('POST', `/v1/search/orders/${query}`, { api_key: facts.test_api_key, body });
    if (answer.statusCode !== 200) throw new Error(`a search was answered ${answer.statusCode}`);
    return answer.body;
  };
  return {
    async projectId(key: 'test_api_key' | 'live_api_key'): Promise<string> {
      const { body } = await send('GET', '/v1/merchants/self/projects/self/', { api_key: facts[key] });
      return ((await body.json()) as { id: string }).id;
    },
    search: async (body: object) => (await (await search(body)).json()) as { hits: number },
    report: (query: string) => search({ query }, '?format=csv'),
    close,
  };
}

async function measureIndex(db: Database, rows: number): Promise<string> {
  const began = performance.now();
  await requestSearchRebuild(db, Date.now());
  await untilIndexed(db);
  const seconds = (performance.now() - began) / 1_000;
  return `${machine()}. ${whole(rows)} rows, of two projects. The index was built in ${whole(seconds)} s, ${whole(rows / seconds)} rows a second.`;
}

/** Statements that change orders, a second, and the orders that each changes. */
const CHANGES_A_SECOND = 10;
const CHANGED_AT_ONCE = 30;

/** The kinds of query; `n` tells one sample from another. */
const QUERIES: Record<string, (n: number, rows: number) => object> = {
  'the newest 20': () => ({ query: '*' }),
  'status and dates': (n) => ({
    query: `status:completed created:[2026-01-${String(1 + (n % 20)).padStart(2, '0')} TO 2026-02-10]`,
  }),
  'an exact reference': (n, rows) => ({ query: `merchant_order_id:B-${1 + ((n * 7_919) % rows)}` }),
  'two words': (n) => ({ query: n % 2 === 0 ? 'blue books' : 'red shirt' }),
  'method and amounts, by amount': (n) => ({
    query: `transaction.payment_method:apple-pay transaction.amount:[${1_000 + n} TO ${20_000 + n}]`,
    sort: 'amount desc',
  }),
};

/** Queries, one at a time, while orders change; and how soon these changes are found. */
async function measureQueries(
  db: Database,
  merchant: SearchMerchant,
  order_ids: readonly string[],
  { rows, samples, change_seconds }: SearchPlan,
): Promise<string> {
  const found: number[] = [];
  const change = async (n: number) => {
    const from = (n * CHANGED_AT_ONCE) % (order_ids.length - CHANGED_AT_ONCE);
    const batch = order_ids.slice(from, from + CHANGED_AT_ONCE);
    // Every third statement has a change that is searched for.
    if (n % 3 !== 0) return await changeOrders(db, batch);
    const merchant_order_id = `found-${n}`;
    await changeOrders(db, batch, { order_id: batch[0]!, merchant_order_id });
    found.push(await timeUntilFound(merchant, merchant_order_id));
  };
  const [taken] = await Promise.all([
    queryAll(merchant, samples, rows),
    durationsAtPace(change, { count: change_seconds * CHANGES_A_SECOND, pause_ms: 1_000 / CHANGES_A_SECOND }),
  ]);
  const slowest = Math.max(...taken.map(([, durations]) => quantile(durations, 0.99)));
  return [
    `Aim: a change is found within ${whole(AIM.found_p99)} ms at the 99th percentile. Reached: ${whole(quantile(found, 0.99))} ms. Aim: a query takes ${AIM.query_p99} ms at the 99th percentile while indexing. Reached by the slowest: ${whole(slowest)} ms.`,
    latencies([['from a change to its being found', found], ...taken]),
  ].join('\n\n');
}

/** Sends each kind of query in turn. */
async function queryAll(merchant: SearchMerchant, samples: number, rows: number): Promise<[string, number[]][]> {
  const kinds = Object.entries(QUERIES).map(([name, search]) => ({ name, search, durations: [] as number[] }));
  // The first five of each warm connections and caches.
  for (let n = -5; n < samples; n += 1) {
    for (const { search, durations } of kinds) {
      const began = performance.now();
      await merchant.search(search(n + 5, rows));
      if (n >= 0) durations.push(performance.now() - began);
    }
  }
  return kinds.map(({ name, durations }) => [name, durations]);
}

/** Milliseconds between two searches for a change; more often, these searches would slow down the measured ones. */
const FOUND_EVERY_MS = 50;

async function timeUntilFound(merchant: SearchMerchant, merchant_order_id: string): Promise<number> {
  const changed = performance.now();
  while ((await merchant.search({ query: `merchant_order_id:${merchant_order_id}`, size: 1 })).hits === 0) {
    await sleep(FOUND_EVERY_MS);
  }
  return performance.now() - changed;
}

/** Downloads reports. */
async function measureReports(merchant: SearchMerchant): Promise<string> {
  const measured = [];
  for (const [name, query] of [
    ['all orders, by Postgres', '*'],
    ['paid transactions, by the index', 'transaction.status:accepted'],
  ] as const) {
    const began = performance.now();
    let rows = -1;
    for await (const chunk of (await merchant.report(query)) as AsyncIterable<Buffer>) {
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) rows += 1;
    }
    measured.push({ name, rows, rows_per_second: (rows * 1_000) / (performance.now() - began) });
  }
  const slower = Math.min(...measured.map(({ rows_per_second }) => rows_per_second));
  return [
    `Aim: ${whole(AIM.rows_per_second)} rows a second. Reached by the slower: ${whole(slower)}.`,
    table(
      ['report', 'rows', 'rows a second'],
      measured.map(({ name, rows, rows_per_second }) => [name, whole(rows), whole(rows_per_second)]),
    ),
  ].join('\n\n');
}

const PAID_A_SECOND = 20;

/** Paid orders at a steady pace in turns: with the index while a merchant searches once a second, and without. */
async function measurePaidOrders(db: Database, row: BenchRow, { rounds, paid_seconds }: SearchPlan): Promise<string> {
  const pay = (seconds: number) =>
    durationsAtPace(() => row.once(undefined), { count: seconds * PAID_A_SECOND, pause_ms: 1_000 / PAID_A_SECOND });
  const modes = {
    async indexing() {
      const timer = setInterval(() => void noteSearch(db), 1_000);
      try {
        return await pay(paid_seconds);
      } finally {
        clearInterval(timer);
      }
    },
    async 'no indexing'() {
      await stopIndexing(db);
      try {
        return await pay(paid_seconds);
      } finally {
        await continueIndexing(db);
      }
    },
  };
  const taken: Record<keyof typeof modes, number[][]> = { indexing: [], 'no indexing': [] };
  await pay(2);
  for (let round = 0; round < rounds; round += 1) {
    const names = Object.keys(modes) as (keyof typeof modes)[];
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      taken[name].push(await modes[name]());
      await untilIndexed(db);
    }
  }
  const p95 = (durations: readonly number[]) => quantile(durations, 0.95);
  const ratio = median(taken.indexing.map((durations, round) => p95(durations) / p95(taken['no indexing'][round]!)));
  return [
    `Aim: the p95 of a paid order is at most ${AIM.paid_p95_ratio} times that without indexing. Reached: ${ratio.toFixed(2)}.`,
    latencies(
      Object.entries(taken).map(([name, turns]) => [`paid order, ${PAID_A_SECOND} a second, ${name}`, turns.flat()]),
    ),
  ].join('\n\n');
}

/** A table of durations in milliseconds. */
function latencies(rows: readonly (readonly [string, readonly number[]])[]): string {
  const cells = (durations: readonly number[]) =>
    [0.5, 0.95, 0.99].map((share) => quantile(durations, share)).map((one) => one.toFixed(one < 10 ? 1 : 0));
  return table(
    ['', 'p50 ms', 'p95 ms', 'p99 ms'],
    rows.map(([name, durations]) => [name, ...cells(durations)]),
  );
}

const whole = (value: number) => Math.round(value).toLocaleString('en');
