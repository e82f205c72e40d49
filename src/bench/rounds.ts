import { measure, type Cell } from './cell';
import { median } from './figures';
import type { Row } from './rows';

/** A row at one concurrency: medians over the rounds. */
export interface Result extends Cell {
  row: string;
  at_once: number;
  /** Of the floor's in the same round, at the same concurrency. */
  throughput_ratio: number;
  p95_ratio: number;
}

export interface RoundsOptions {
  rounds: number;
  window_ms: number;
  concurrencies: readonly number[];
  pids: () => Record<string, number>;
  /** Called before each round. */
  onRound?: (round: number) => void;
}

/**
 * Measures all rows in every round, forwards and backwards in turn: a machine whose speed drifts slows all of them
 * alike. The first row is the floor. Ratios are taken within a round, where both had the same machine.
 */
export async function runRounds(
  rows: readonly Row[],
  { rounds, window_ms, concurrencies, pids, onRound }: RoundsOptions,
): Promise<Result[]> {
  const cells = new Map<string, Cell[]>();
  const key = (row: Row, at_once: number) => `${row.name} ${at_once}`;
  const warm_up = { at_once: 16, window_ms: Math.min(window_ms * 2, 3_000), prepared: 64, pids };
  for (const row of rows) await measure(row, warm_up);
  for (let round = 1; round <= rounds; round += 1) {
    onRound?.(round);
    for (const at_once of concurrencies) {
      for (const row of round % 2 === 1 ? rows : rows.toReversed()) {
        const before = cells.get(key(row, at_once)) ?? [];
        const expected = (before.at(-1)?.throughput ?? 30) * (window_ms / 1_000);
        // More than will be used: a client without one would leave the others less company.
        const prepared = Math.ceil(expected * 1.3) + at_once * 3;
        cells.set(key(row, at_once), [...before, await measure(row, { at_once, window_ms, prepared, pids })]);
      }
    }
  }
  return concurrencies.flatMap((at_once) => {
    const floor = cells.get(key(rows[0]!, at_once))!;
    return rows.map((row) => summarize(row.name, at_once, cells.get(key(row, at_once))!, floor));
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
    cpu: Object.fromEntries(Object.keys(cells[0]!.cpu).map((name) => [name, of((cell) => cell.cpu[name] ?? 0)])),
  };
}
