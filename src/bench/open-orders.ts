import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectDatabase, queryRows } from '../db/connection';
import { cpuMilliseconds, memoryMiB } from './processes';
import { machine, table } from './report';
import { runRounds, type RoundsOptions } from './rounds';
import type { BenchRow } from './rows';
import { isIndexBehind } from './search-orders';
import type { BenchStack } from './stack';

/** What is measured while so many orders are open. */
interface OpenOrdersPlan {
  stack: BenchStack;
  /** The bare floor and the paid order. */
  rows: readonly BenchRow[];
  createOpenOrder: () => Promise<unknown>;
  pids: () => Record<string, number>;
  /** The last step; the others are a tenth and a hundredth of it. */
  orders: number;
  say: (text: string) => void;
}

/** How many orders are created at once: more than the cores need to be busy. */
const CREATED_AT_ONCE = 32;
const ROUNDS = { rounds: 5, window_ms: 2_000, concurrencies: { main: [1, 16], others: [] } };
/** One round of recovery at least, and several of the other loops. Milliseconds. */
const IDLE_MS = 35_000;
/** Between two looks whether the index has all orders; a search would change the pace of indexing. Milliseconds. */
const INDEXED_CHECK_MS = 500;
/** From the first step to the last a figure may grow by so much. */
const GROWTH_MAX = 1.1;
const DATABASE_MIB = 'select pg_database_size(current_database()) / 1048576.0::float8 as mib';
/** Less is the error of the measurement: CPU milliseconds, or MiB. */
const LEAST = 1;

/**
 * Opens orders step by step, each with its row, its workflow and its timer, and measures at each step what a paid order
 * costs, what the processes do without requests, and how much memory and disk they have. Returns the figures as
 * Markdown.
 */
export async function measureOpenOrders({ stack, orders, say, ...plan }: OpenOrdersPlan): Promise<string> {
  const began = performance.now();
  const db = connectDatabase(stack.facts.postgres_url);
  const steps = [...new Set([100, 10, 1].map((part) => Math.ceil(orders / part)))];
  const taken: Record<string, number>[] = [];
  let open = 0;
  try {
    for (const step of steps) {
      say(`opening ${step - open} orders`);
      await Promise.all(
        Array.from({ length: CREATED_AT_ONCE }, async () => {
          while (open < step) {
            open += 1;
            await plan.createOpenOrder();
          }
        }),
      );
      while (await isIndexBehind(db)) await sleep(INDEXED_CHECK_MS);
      say(`measuring beside ${step} open orders`);
      const cost = await costOf(plan.rows, { ...ROUNDS, pids: plan.pids });
      const idle = await idleCpu(plan.pids);
      const [database] = await queryRows<{ mib: number }>(db, DATABASE_MIB, {});
      taken.push({
        ...cost,
        ...prefixed('idle, CPU ms a second: ', idle),
        ...prefixed('memory MiB: ', memoryMiB(plan.pids())),
        ...prefixed('disk MiB: ', {
          postgres: database?.mib ?? 0,
          temporal: folderMiB(path.join(stack.data_dir, 'temporal')),
          meilisearch: folderMiB(path.join(stack.data_dir, 'meilisearch')),
        }),
      });
    }
  } finally {
    await db.destroy();
  }
  return reportOf(steps, taken, (performance.now() - began) / 60_000);
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

function reportOf(steps: readonly number[], taken: readonly Record<string, number>[], minutes: number): string {
  const first = taken[0]!;
  const last = taken.at(-1)!;
  const names = Object.keys(first).filter((name) => taken.some((step) => (step[name] ?? 0) >= LEAST));
  const growth = (name: string) => (last[name] ?? 0) / (first[name] ?? 0);
  const rows = names.map((name) => [
    name,
    ...taken.map((step) => (step[name] ?? 0).toFixed(1)),
    `${growth(name).toFixed(2)} times`,
  ]);
  const grown = names.filter((name) => growth(name) > GROWTH_MAX && (last[name] ?? 0) - (first[name] ?? 0) >= LEAST);
  const cost = growth('paid order: CPU ms in all');
  return [
    `${machine()}. Orders that wait for their payment, each with its row, workflow and timer; ${minutes.toFixed(0)} minutes in all.`,
    `Aim: the CPU of a paid order grows by at most ${Math.round((GROWTH_MAX - 1) * 100)} %. Reached: ${((cost - 1) * 100).toFixed(0)} %.`,
    table(['', ...steps.map((step) => `${step.toLocaleString('en')} open`), 'growth'], rows),
    `Grown by more than ${Math.round((GROWTH_MAX - 1) * 100)} %: ${grown.join('; ') || 'nothing'}.`,
  ].join('\n\n');
}
