import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/connection';
import { cpuMilliseconds } from './cpu';
import { mean, median, quantiles, type Quantiles } from './figures';
import type { Row } from './rows';
import {
  continueIndexing,
  forgetSearches,
  keepSearching,
  stopIndexing,
  untilIndexed,
  untilWritten,
} from './search-orders';
import type { BenchStack } from './stack';

/** Paid orders by what the index does meanwhile. */
export interface PaidFigures {
  name: string;
  latency: Quantiles;
  /** The p95 to that of the orders without indexing in the same round: the median over the rounds. */
  p95_ratio: number;
  /** CPU of all processes of the service, for each order. */
  cpu_ms: number;
}

export const NO_INDEXING = 'no indexing';

const PAID_A_SECOND = 20;
/** What an order leaves to be done belongs to its CPU time. Milliseconds. */
const SETTLE_MS = 1_000;

/**
 * Paid orders at a steady pace in turns: with the index while nobody searches and while somebody does, without indexing,
 * and while Meilisearch does not answer.
 */
export async function measurePaidOrders(
  db: Database,
  { facts }: BenchStack,
  row: Row,
  { rounds, paid_seconds }: { rounds: number; paid_seconds: number },
  onRound: (round: number) => void,
): Promise<PaidFigures[]> {
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => void process.kill(facts.pids['meilisearch']!, name);
  let stopSearching = () => {};
  const settle = () => sleep(SETTLE_MS);
  const modes = [
    {
      name: 'indexing, nobody searches',
      begin: () => forgetSearches(db),
      settle: () => untilWritten(db),
      end: async () => {},
    },
    {
      name: 'indexing, somebody searches',
      begin: async () => void (stopSearching = keepSearching(db)),
      settle,
      end: async () => stopSearching(),
    },
    { name: NO_INDEXING, begin: () => stopIndexing(db), settle, end: () => continueIndexing(db) },
    { name: 'Meilisearch away', begin: async () => signal('SIGSTOP'), settle, end: async () => signal('SIGCONT') },
  ].map((mode) => ({ ...mode, latencies: [] as number[][], cpu: [] as number[] }));
  const cpu = () => Object.values(cpuMilliseconds(facts.pids)).reduce((sum, used) => sum + used, 0);
  await paidOrders(row, 2);
  for (let round = 1; round <= rounds; round += 1) {
    onRound(round);
    for (const { begin, settle, end, latencies, cpu: used } of round % 2 === 1 ? modes : modes.toReversed()) {
      await begin();
      try {
        const before = cpu();
        const taken = await paidOrders(row, paid_seconds);
        await settle();
        latencies.push(taken);
        used.push((cpu() - before) / taken.length);
      } finally {
        await end();
      }
      await untilIndexed(db);
    }
  }
  const alone = modes.find(({ name }) => name === NO_INDEXING)!.latencies.map((taken) => quantiles(taken).p95);
  return modes.map(({ name, latencies, cpu: used }) => ({
    name,
    latency: quantiles(latencies.flat()),
    p95_ratio: median(latencies.map((taken, round) => quantiles(taken).p95 / alone[round]!)),
    cpu_ms: mean(used),
  }));
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
