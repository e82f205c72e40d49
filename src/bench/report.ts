import os from 'node:os';
import type { Counts } from './counts';
import type { Result } from './rounds';
import { PAID_ORDER } from './rows';
import type { SilentReceivers } from './silent-receivers';

/** The figures of one run as Markdown tables. */
export function reportText(
  results: readonly Result[],
  counts: readonly Counts[],
  silent: SilentReceivers,
  run: { rounds: number; window_ms: number; seconds: number },
): string {
  return [
    `${machine()}. ${run.rounds} rounds of ${run.window_ms} ms for each row and concurrency, ${Math.round(run.seconds)} s in all.`,
    aim(results),
    speeds(results),
    costs(results, counts),
    besideSilentReceivers(silent),
  ].join('\n\n');
}

/** Cores, memory, system and Node version of this machine. */
export function machine(): string {
  const gib = Math.round(os.totalmem() / 2 ** 30);
  return `${os.cpus().length} cores, ${gib} GiB of memory, ${os.type()}, Node ${process.versions.node}`;
}

/**
 * A paid order in one call: at least this share of the bare floor's throughput, a p95 of at most so many times the bare floor's.
 */
const AIM = { throughput_ratio: 0.7, p95_ratio: 1.5 };

/** How far it is, at each concurrency. */
function aim(results: readonly Result[]): string {
  const reached = results
    .filter(({ row }) => row === PAID_ORDER)
    .map((one) => `${percent(one.throughput_ratio)} and ${one.p95_ratio.toFixed(2)} times at ${one.at_once} at once`);
  return `Aim for a paid order: ${percent(AIM.throughput_ratio)} of the bare floor's throughput, p95 within ${AIM.p95_ratio} times the bare floor's. Reached: ${reached.join('; ')}.`;
}

const percent = (ratio: number) => `${(ratio * 100).toFixed(0)} %`;

function speeds(results: readonly Result[]): string {
  const rows = results.map((one) => [
    one.row,
    String(one.at_once),
    one.throughput.toFixed(1),
    one.p50.toFixed(0),
    one.p95.toFixed(0),
    percent(one.throughput_ratio),
    one.p95_ratio.toFixed(2),
  ]);
  return table(
    ['', 'at once', 'a second', 'p50 ms', 'p95 ms', "of the bare floor's throughput", "p95 to the bare floor's"],
    rows,
  );
}

/** CPU at the highest concurrency, where nothing idles; the first row is the bare floor. */
function costs(results: readonly Result[], counts: readonly Counts[]): string {
  const most = Math.max(...results.map(({ at_once }) => at_once));
  const busiest = results.filter(({ at_once }) => at_once === most);
  const names = Object.keys(busiest.at(-1)?.cpu ?? {});
  const cpuOf = (row: string | undefined) => busiest.find((one) => one.row === row)?.cpu ?? {};
  const inAll = (row: string | undefined) => Object.values(cpuOf(row)).reduce((sum, used) => sum + used, 0);
  const floor = inAll(counts[0]?.row);
  const rows = counts.map(({ row, events, workflow_tasks, statements }) => {
    const milliseconds = [...names.map((name) => cpuOf(row)[name] ?? 0), inAll(row)].map((used) => used.toFixed(1));
    return [row, ...[events, workflow_tasks, statements].map(String), ...milliseconds, percent(floor / inAll(row))];
  });
  const head = [
    'for each',
    'events',
    'workflow tasks',
    'SQL statements',
    ...names.map((name) => `CPU ms ${name}`),
    'CPU ms in all',
    "bare floor's CPU to it",
  ];
  return table(head, rows);
}

/** The p95 of a webhook while another project's receivers are silent: at most so many times the p95 alone. */
const BESIDE_RATIO = 2;

function besideSilentReceivers({ deliveries, alone, beside }: SilentReceivers): string {
  const rows = [
    ['alone', alone],
    [`beside ${deliveries} deliveries of another project to silent receivers`, beside],
  ] as const;
  const ratio = (beside.p95 / alone.p95).toFixed(2);
  return [
    `Webhooks of one project, from the request for a paid order to the arrival; aim: a p95 of at most ${BESIDE_RATIO} times that alone. Reached: ${ratio} times.`,
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
