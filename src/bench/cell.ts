import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMilliseconds } from './cpu';
import { mean, quantile } from './figures';
import type { Row } from './rows';

/** One row at one concurrency, in one round. */
export interface Cell {
  /**
   * A second, while all clients are busy: the end, where one after the other stops, would count against what takes
   * long.
   */
  throughput: number;
  /** Milliseconds. */
  p50: number;
  p95: number;
  /** CPU milliseconds for each, by process. */
  cpu: Record<string, number>;
}

export interface CellOptions {
  at_once: number;
  /** Milliseconds in which new ones are begun. */
  window_ms: number;
  /** How many are prepared for a row that needs it: when they are used up, the window ends. */
  prepared: number;
  pids: () => Record<string, number>;
}

/** What follows an answer belongs to the row that caused it: wait for it before the CPU is read. Milliseconds. */
const SETTLE_MS = 100;

/**
 * Does the row for a while, `at_once` at a time: each client begins the next when its last has ended. Those that were
 * begun within the window are measured; until the last of them has ended the others go on, so that none ran with less
 * company.
 */
export async function measure(row: Row, { at_once, window_ms, prepared, pids }: CellOptions): Promise<Cell> {
  const ready = await prepare(row, prepared);
  await sleep(SETTLE_MS);
  const cpu_before = cpuMilliseconds(pids());
  const durations: number[] = [];
  const end = performance.now() + window_ms;
  let open = 0;
  let done = 0;
  const client = async () => {
    for (;;) {
      const start = performance.now();
      const measured = start < end;
      const id = ready?.pop();
      if ((!measured && open === 0) || (ready !== undefined && id === undefined)) return;
      if (measured) open += 1;
      await row.once(id);
      done += 1;
      if (!measured) continue;
      open -= 1;
      durations.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: at_once }, client));
  await sleep(SETTLE_MS);
  const cpu = Object.entries(cpuMilliseconds(pids())).map(
    ([name, used]) => [name, (used - (cpu_before[name] ?? used)) / done] as const,
  );
  return {
    throughput: (at_once * 1_000) / mean(durations),
    p50: quantile(durations, 0.5),
    p95: quantile(durations, 0.95),
    cpu: Object.fromEntries(cpu),
  };
}

async function prepare({ prepare: one }: Row, count: number): Promise<string[] | undefined> {
  if (one === undefined) return undefined;
  const ready: string[] = [];
  let begun = 0;
  const client = async () => {
    for (; begun < count;) {
      begun += 1;
      ready.push(await one());
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, 16) }, client));
  return ready;
}
