import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectDatabase } from '../db/connection';
import { queryValue } from '../db/query';
import { severalAtOnce } from '../domain/several-at-once';
import { median } from './figures';
import { cpuMilliseconds, memoryMiB } from './processes';
import { readFacts } from '../stack/launch';
import { machine, table } from './report';
import { runRounds, type RoundsOptions } from './rounds';
import type { BenchRow } from './rows';
import { isIndexBehind } from './search-orders';
import type { BenchStack } from './stack';

/** What is measured while so many orders are open. */
interface OpenOrdersPlan {
  stack: BenchStack;
  /** The paid order last; the bare floor may come before it. */
  rows: readonly BenchRow[];
  createOpenOrder: () => Promise<unknown>;
  createOpenLink: () => Promise<unknown>;
  pids: () => Record<string, number>;
  /** The last step; the others are a tenth and a hundredth of it. For ten orders there is a payment link. */
  orders: number;
  say: (text: string) => void;
}

/** How many orders are created at once: more than the cores need to be busy. */
const CREATED_AT_ONCE = 32;
const ROUNDS = { rounds: 5, window_ms: 2_000, concurrencies: { main: [1, 16], others: [] } };
/** One round of recovery at least, and several of the other loops. Milliseconds. */
const IDLE_MS = 35_000;
/** Interval of the check that the index has all orders; a search would change the pace of indexing. Milliseconds. */
const INDEXED_CHECK_MS = 500;
/** Starts of API and worker; pause between two tries to pay, and after how long none more is made, in milliseconds. */
const STARTS = 3;
const START_CHECK_MS = 50;
const START_MS_MAX = 120_000;
/** From the first step to the last a figure may grow by so much. */
const GROWTH_MAX = 1.1;
/** An open payment link for so many open orders. */
const ORDERS_PER_LINK = 10;
const DATABASE_MIB = 'select pg_database_size(current_database()) / 1048576.0::float8 as mib';
/** Differences below this are measurement noise: CPU milliseconds, or MiB. */
const LEAST = 1;

/** What was measured, by name, at each step: so many open orders. */
export interface OpenOrdersFigures {
  steps: number[];
  taken: Record<string, number>[];
  minutes: number;
}

/**
 * Opens orders and links step by step, each with its row, its workflow and its timer, and measures at each step how
 * long a start takes, what a paid order costs, what the processes do without requests, and how much memory and disk
 * they have.
 */
export async function measureOpenOrders({ stack, orders, say, ...plan }: OpenOrdersPlan): Promise<OpenOrdersFigures> {
  const began = performance.now();
  const db = connectDatabase(stack.facts.postgres_url);
  const steps = [...new Set([100, 10, 1].map((part) => Math.ceil(orders / part)))];
  const taken: Record<string, number>[] = [];
  let open = 0;
  try {
    for (const step of steps) {
      say(`opening ${step - open} orders`);
      await severalAtOnce(CREATED_AT_ONCE, Array.from({ length: step - open }), async () => {
        open += 1;
        const with_link = open % ORDERS_PER_LINK === 0;
        await plan.createOpenOrder();
        if (with_link) await plan.createOpenLink();
      });
      while (await isIndexBehind(db)) await sleep(INDEXED_CHECK_MS);
      say(`measuring beside ${step} open orders`);
      const start = await millisecondsToStart(stack, plan.rows.at(-1)!);
      const cost = await costOf(plan.rows, { ...ROUNDS, pids: plan.pids });
      const idle = await idleCpu(plan.pids);
      const memory = memoryMiB(plan.pids());
      const mib = await queryValue<number>(db, DATABASE_MIB);
      taken.push({
        ...cost,
        ...prefixed('idle, CPU ms a second: ', idle),
        ...prefixed('memory MiB: ', memory),
        [START]: start,
        ...prefixed('disk MiB: ', {
          postgres: mib,
          temporal: folderMiB(path.join(stack.data_dir, 'temporal')),
          meilisearch: folderMiB(path.join(stack.data_dir, 'meilisearch')),
        }),
      });
    }
  } finally {
    await db.destroy();
  }
  return { steps, taken, minutes: (performance.now() - began) / 60_000 };
}

const START = 'start of API and worker, ms until an order is paid';

/**
 * From the kill of both until an order is paid: the median of some starts. What is measured next has processes that are
 * as old at each step.
 */
async function millisecondsToStart({ data_dir }: BenchStack, row: BenchRow): Promise<number> {
  const starts: number[] = [];
  while (starts.length < STARTS) {
    const began = performance.now();
    const { pids } = readFacts(data_dir);
    for (const name of ['api', 'worker']) process.kill(pids[name]!, 'SIGKILL');
    await untilPaid(row, began + START_MS_MAX);
    starts.push(performance.now() - began);
  }
  return median(starts);
}

/** Both rows at each concurrency; CPU time at the higher one. */
async function costOf(rows: readonly BenchRow[], options: RoundsOptions): Promise<Record<string, number>> {
  const results = await runRounds(rows, options);
  return Object.fromEntries(
    results.flatMap(({ row, at_once, p50, p95, cpu }) => {
      const all = Object.values(cpu).reduce((sum, used) => sum + used, 0);
      return [
        [`${row}, ${at_once} at once: p50 ms`, p50],
        [`${row}, ${at_once} at once: p95 ms`, p95],
        ...(at_once === 1 ? [] : Object.entries({ 'in all': all, ...cpu })).map(
          ([name, used]) => [`${row}: CPU ms ${name}`, used] as const,
        ),
      ] as const;
    }),
  );
}

/** Throws what the last try has thrown when no order is paid by then, by performance.now(). */
async function untilPaid(row: BenchRow, give_up: number): Promise<void> {
  for (;;) {
    try {
      await row.once(undefined);
      return;
    } catch (error) {
      if (performance.now() > give_up) throw error;
    }
    await sleep(START_CHECK_MS);
  }
}

async function idleCpu(pids: () => Record<string, number>): Promise<Record<string, number>> {
  const before = cpuMilliseconds(pids());
  await sleep(IDLE_MS);
  const after = cpuMilliseconds(pids());
  return Object.fromEntries(
    Object.entries(after).map(([name, used]) => [name, ((used - (before[name] ?? used)) * 1_000) / IDLE_MS]),
  );
}

const prefixed = (prefix: string, figures: Record<string, number>) =>
  Object.fromEntries(Object.entries(figures).map(([name, figure]) => [prefix + name, figure]));

function folderMiB(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const sizes = files.map(({ parentPath, name }) => {
    // A server may delete a file of its own meanwhile.
    return statSync(path.join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0;
  });
  return sizes.reduce((sum, size) => sum + size, 0) / 2 ** 20;
}

/** What has grown by more than GROWTH_MAX from the first step to the last, by name. */
export function grownFigures({ taken }: OpenOrdersFigures): string[] {
  const [first, last] = [taken[0]!, taken.at(-1)!];
  const hasGrown = (name: string) => {
    const [before, after] = [first[name] ?? 0, last[name] ?? 0];
    return after > before * GROWTH_MAX && after - before >= LEAST;
  };
  return Object.keys(last).filter(hasGrown);
}

/** The figures as Markdown. */
export function reportOpenOrders(figures: OpenOrdersFigures): string {
  const { steps, taken, minutes } = figures;
  const [first, last] = [taken[0]!, taken.at(-1)!];
  const names = Object.keys(first).filter((name) => taken.some((step) => (step[name] ?? 0) >= LEAST));
  const growth = (name: string) => (last[name] ?? 0) / (first[name] ?? 0);
  const rows = names.map((name) => [
    name,
    ...taken.map((step) => (step[name] ?? 0).toFixed(1)),
    `${growth(name).toFixed(2)} times`,
  ]);
  const cost = growth('paid order: CPU ms in all');
  return [
    `${machine()}. Orders that wait for their payment, and a payment link for ten of them, each with its row, workflow and timer; ${minutes.toFixed(0)} minutes in all.`,
    `Aim: the CPU of a paid order grows by at most ${Math.round((GROWTH_MAX - 1) * 100)} %. Reached: ${((cost - 1) * 100).toFixed(0)} %.`,
    table(['', ...steps.map((step) => `${step.toLocaleString('en')} open`), 'growth'], rows),
    `Grown by more than ${Math.round((GROWTH_MAX - 1) * 100)} %: ${grownFigures(figures).join('; ') || 'nothing'}.`,
  ].join('\n\n');
}
