import { setTimeout as sleep } from 'node:timers/promises';
import { severalAtOnce } from '../domain/several-at-once';
import { mean, median, quantile } from './figures';
import { cpuMilliseconds } from './processes';
import { isRefusedAsLate, processesOf, type BenchRow } from './rows';

/** A row at one concurrency: medians over the rounds. */
export interface Result extends Cell {
  row: string;
  at_once: number;
  /** Of the bare floor's in the same round, at the same concurrency. */
  throughput_ratio: number;
  p95_ratio: number;
}

/** How many operations of a row run at once. */
export interface Concurrencies {
  /** Of the main rows, the bare floor's among them. */
  main: readonly number[];
  /** Of the others. */
  others: readonly number[];
}

export interface RoundsOptions {
  rounds: number;
  window_ms: number;
  concurrencies: Concurrencies;
  pids: () => Record<string, number>;
  /** Called before each round. */
  onRound?: (round: number) => void;
}

/**
 * Measures all rows in every round, forwards and backwards in turn: a machine whose speed drifts slows all of them
 * alike. The first row is the bare floor. Ratios are taken within a round, where both had the same machine.
 */
export async function runRounds(
  rows: readonly BenchRow[],
  { rounds, window_ms, concurrencies, pids, onRound }: RoundsOptions,
): Promise<Result[]> {
  const cells = new Map<string, Cell[]>();
  const key = (row: BenchRow, at_once: number) => `${row.name} ${at_once}`;
  const rowsAt = (at_once: number) =>
    rows.filter(({ is_main }) => is_main === true || concurrencies.others.includes(at_once));
  /** What was prepared for a row and is not used yet. */
  const stock = new Map(rows.map((row) => [row, [] as string[]]));
  const warm_up = { at_once: 16, window_ms: Math.min(window_ms * 2, 3_000), prepared: 64, pids };
  for (const row of rows) await measure(row, stock.get(row)!, warm_up);
  for (let round = 1; round <= rounds; round += 1) {
    onRound?.(round);
    for (const at_once of concurrencies.main) {
      for (const row of round % 2 === 1 ? rowsAt(at_once) : rowsAt(at_once).toReversed()) {
        const before = cells.get(key(row, at_once)) ?? [];
        const expected = (before.at(-1)?.throughput ?? 30) * (window_ms / 1_000);
        // More than will be used, so that no client runs out and lowers the concurrency.
        const prepared = Math.ceil(expected * 1.3) + at_once * 3;
        const cell = await measure(row, stock.get(row)!, { at_once, window_ms, prepared, pids });
        cells.set(key(row, at_once), [...before, cell]);
      }
    }
  }
  return concurrencies.main.flatMap((at_once) => {
    const floor = cells.get(key(rows[0]!, at_once))!;
    return rowsAt(at_once).map((row) => summarize(row.name, at_once, cells.get(key(row, at_once))!, floor));
  });
}

function summarize(row: string, at_once: number, cells: readonly Cell[], floor: readonly Cell[]): Result {
  const of = (figure: (cell: Cell, round: number) => number) => median(cells.map(figure));
  return {
    row,
    at_once,
    throughput: of((cell) => cell.throughput),
    p50: of((cell) => cell.p50),
    p95: of((cell) => cell.p95),
    throughput_ratio: of((cell, round) => cell.throughput / floor[round]!.throughput),
    p95_ratio: of((cell, round) => cell.p95 / floor[round]!.p95),
    refused: cells.reduce((sum, cell) => sum + cell.refused, 0),
    cpu: Object.fromEntries(Object.keys(cells[0]!.cpu).map((name) => [name, of((cell) => cell.cpu[name] ?? 0)])),
  };
}

/** One row at one concurrency, in one round. */
interface Cell {
  /**
   * Per second, without those refused, while all clients are busy: the end, where clients stop one after the other,
   * would count against slow operations.
   */
  throughput: number;
  /** Milliseconds. */
  p50: number;
  p95: number;
  /** Requests that came too late (`isRefusedAsLate`), in a result those of all rounds. Their time counts like any other. */
  refused: number;
  /** CPU milliseconds for each, by process. */
  cpu: Record<string, number>;
}

interface CellOptions {
  at_once: number;
  /** Milliseconds during which new operations are started. */
  window_ms: number;
  /** How many are prepared for a row that needs it: when they are used up, the window ends. */
  prepared: number;
  pids: () => Record<string, number>;
}

/**
 * Wait for the work that follows an answer before reading the CPU time: it belongs to the row that caused it.
 * Milliseconds.
 */
const FOLLOWING_WORK_MS = 100;

/**
 * Does the row for a while, `at_once` at a time: each client begins the next when its last has ended. Operations that
 * start within the window are measured. Until the last of them has ended, all clients continue, so that the concurrency
 * stays the same.
 */
async function measure(
  row: BenchRow,
  ready: string[],
  { at_once, window_ms, prepared, pids }: CellOptions,
): Promise<Cell> {
  await prepare(row, ready, prepared);
  await sleep(FOLLOWING_WORK_MS);
  const cpu_before = cpuMilliseconds(pids());
  const durations: number[] = [];
  const end = performance.now() + window_ms;
  let open = 0;
  let done = 0;
  let refused = 0;
  const client = async () => {
    for (;;) {
      const start = performance.now();
      const measured = start < end;
      if ((!measured && open === 0) || (row.prepare !== undefined && ready.length === 0)) return;
      const id = ready.pop();
      if (measured) open += 1;
      const isRefused = await row.once(id).then(() => false, isRefusal);
      done += 1;
      if (!measured) continue;
      open -= 1;
      durations.push(performance.now() - start);
      if (isRefused) refused += 1;
    }
  };
  await Promise.all(Array.from({ length: at_once }, client));
  await sleep(FOLLOWING_WORK_MS);
  const cpu_after = cpuMilliseconds(pids());
  const cpu = Object.entries(processesOf(row)).map(([shown, name]) => {
    const used = (cpu_after[name] ?? 0) - (cpu_before[name] ?? 0);
    return [shown, used / done] as const;
  });
  return {
    throughput: ((at_once * 1_000) / mean(durations)) * (1 - refused / durations.length),
    p50: quantile(durations, 0.5),
    p95: quantile(durations, 0.95),
    refused,
    cpu: Object.fromEntries(cpu),
  };
}

/** True; throws any other failure. */
function isRefusal(error: unknown): true {
  if (isRefusedAsLate(error)) return true;
  throw error;
}

/** Prepares the row until so many are ready. */
async function prepare({ prepare: one }: BenchRow, ready: string[], count: number): Promise<void> {
  if (one === undefined) return;
  ready.push(...(await severalAtOnce(16, Array.from({ length: count - ready.length }), one)));
}
