import os from 'node:os';
import { BARE_FLOOR } from './bare-floor';
import type { Counts } from './counts';
import type { Result } from './rounds';
import { CREATE_ORDER, LINK_PAYMENT, PAGE_PAYMENT, PAID_ORDER, PAID_ORDER_WITH_WEBHOOK } from './rows';
import type { SilentReceivers } from './silent-receivers';

/** All figures of one run. */
export interface BenchFigures {
  results: readonly Result[];
  counts: readonly Counts[];
  silent: SilentReceivers;
  /** MiB of each process, after the rounds. */
  memory: Readonly<Record<string, number>>;
  rounds: number;
  window_ms: number;
  seconds: number;
}

/** The figures of one run as Markdown tables. */
export function benchReportText({ results, counts, silent, memory, rounds, window_ms, seconds }: BenchFigures): string {
  return [
    `${machine()}. ${rounds} rounds of ${window_ms} ms for each row and concurrency, ${Math.round(seconds)} s in all.`,
    aims(results, silent),
    speeds(results),
    `CPU milliseconds of each process for one operation, ${BUSY} at once; the last column is the bare floor's sum divided by the row's.`,
    costs(results, counts),
    besideSilentReceivers(silent),
    'Memory of each process after the rounds:',
    table(
      ['', 'MiB'],
      Object.entries(memory).map(([name, mib]) => [name, mib.toFixed(0)]),
    ),
  ].join('\n\n');
}

/** Cores, memory, system and Node version of this machine. */
export function machine(): string {
  const gib = Math.round(os.totalmem() / 2 ** 30);
  return `${os.cpus().length} cores, ${gib} GiB of memory, ${os.type()}, Node ${process.versions.node}`;
}

/** The concurrency of the CPU figures: nothing idles, and every row is measured with it. */
const BUSY = 16;

/** An aim and what was reached. */
interface Aim {
  title: string;
  unit: 'share' | 'times';
  at_least?: number;
  at_most?: number;
  reached: number;
  /** The figures behind it. */
  note?: string;
}

function aims(results: readonly Result[], { alone, beside }: SilentReceivers): string {
  const at = (row: string, at_once = BUSY) => results.find((one) => one.row === row && one.at_once === at_once)!;
  const cpuShare = (row: string) => sum(at(BARE_FLOOR).cpu) / sum(at(row).cpu);
  const share = (title: string, at_least: number, reached: number): Aim => ({
    title,
    unit: 'share',
    at_least,
    reached,
  });
  const [floor, paid] = [at(BARE_FLOOR, 1), at(PAID_ORDER, 1)];
  const { cpu } = at(PAID_ORDER);
  const needed = sum(at(BARE_FLOOR).cpu) + (cpu['postgres'] ?? 0) + (cpu['simulator'] ?? 0);
  const all: Aim[] = [
    share(`${CREATE_ORDER}: CPU`, 0.85, cpuShare(CREATE_ORDER)),
    share(`${PAID_ORDER}: CPU`, 0.65, cpuShare(PAID_ORDER)),
    share(`${PAID_ORDER}: throughput`, 0.72, at(PAID_ORDER).throughput_ratio),
    {
      title: `${PAID_ORDER}: CPU to that of bare floor, Postgres and simulator`,
      unit: 'times',
      at_most: 1.3,
      reached: sum(cpu) / needed,
      note: `${sum(cpu).toFixed(1)} and ${needed.toFixed(1)} ms`,
    },
    { title: `${PAID_ORDER}: p95`, unit: 'times', at_most: 1.5, reached: at(PAID_ORDER).p95_ratio },
    {
      title: `${PAID_ORDER}: p50, one at a time`,
      unit: 'times',
      // 23 ms where the floor's is 13.
      at_most: 23 / 13,
      reached: paid.p50 / floor.p50,
      note: `${paid.p50.toFixed(0)} and ${floor.p50.toFixed(0)} ms`,
    },
    share(`${PAID_ORDER_WITH_WEBHOOK}: CPU`, 0.45, cpuShare(PAID_ORDER_WITH_WEBHOOK)),
    share(`${PAID_ORDER_WITH_WEBHOOK}: throughput`, 0.5, at(PAID_ORDER_WITH_WEBHOOK).throughput_ratio),
    share(`${PAGE_PAYMENT}: CPU`, 0.66, cpuShare(PAGE_PAYMENT)),
    share(`${LINK_PAYMENT}: CPU`, 0.4, cpuShare(LINK_PAYMENT)),
    {
      title: 'a webhook beside silent receivers: p95 to that alone',
      unit: 'times',
      at_most: 2,
      reached: beside.p95 / alone.p95,
    },
  ];
  return table(['aim', 'at least or most', 'reached', ''], all.map(aimCells));
}

function aimCells({ title, unit, at_least, at_most = 0, reached, note }: Aim): string[] {
  const show = unit === 'share' ? percent : (times: number) => `${times.toFixed(2)} times`;
  const isReached = at_least === undefined ? reached <= at_most : reached >= at_least;
  const limit = at_least === undefined ? `≤ ${show(at_most)}` : `≥ ${show(at_least)}`;
  return [title, limit, note === undefined ? show(reached) : `${show(reached)} (${note})`, isReached ? 'yes' : 'no'];
}

const percent = (ratio: number) => `${(ratio * 100).toFixed(0)} %`;
const sum = (cpu: Readonly<Record<string, number>>) => Object.values(cpu).reduce((total, used) => total + used, 0);

function speeds(results: readonly Result[]): string {
  const rows = results.map((one) => [
    one.row,
    String(one.at_once),
    one.throughput.toFixed(1),
    one.p50.toFixed(0),
    one.p95.toFixed(0),
    percent(one.throughput_ratio),
    one.p95_ratio.toFixed(2),
    String(one.refused),
  ]);
  return table(['', 'at once', 'a second', 'p50 ms', 'p95 ms', "of the floor's", "p95 to the floor's", '503'], rows);
}

function costs(results: readonly Result[], counts: readonly Counts[]): string {
  const cpuOf = (row: string) => results.find((one) => one.row === row && one.at_once === BUSY)?.cpu ?? {};
  const names = [...new Set(results.flatMap(({ cpu }) => Object.keys(cpu)))];
  const rows = counts.map(({ row, events, workflow_tasks, actions, statements }) => {
    const cpu = cpuOf(row);
    const milliseconds = [...names.map((name) => cpu[name] ?? 0), sum(cpu)].map((used) => used.toFixed(1));
    const share = percent(sum(cpuOf(BARE_FLOOR)) / sum(cpu));
    return [row, ...[events, workflow_tasks, actions, statements].map(String), ...milliseconds, share];
  });
  return table(['for each', 'events', 'tasks', 'actions', 'SQL', ...names, 'in all', 'share'], rows);
}

function besideSilentReceivers({ deliveries, alone, beside }: SilentReceivers): string {
  const rows = [
    ['alone', alone],
    [`beside ${deliveries} deliveries of another project to silent receivers`, beside],
  ] as const;
  return [
    'Webhooks of one project, from the request for a paid order to the arrival:',
    table(
      ['', 'p50 ms', 'p95 ms'],
      rows.map(([title, { p50, p95 }]) => [title, p50.toFixed(0), p95.toFixed(0)]),
    ),
  ].join('\n\n');
}

/** Aligned, so that it reads well on a terminal too. */
export function table(head: readonly string[], rows: readonly string[][]): string {
  const widths = head.map((title, column) =>
    Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0), title.length, 3),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
