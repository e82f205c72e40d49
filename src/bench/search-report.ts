import { machine, table } from './report';
import type { Quantiles, SearchFigures } from './search';

/** Milliseconds and rows a second, with a million rows on two cores. */
const AIM = { found_p99: 1_000, query_p99: 50, rows_per_second: 40_000, paid_p95_ratio: 1.05 };

/** The figures of a run as Markdown. */
export function searchReport(figures: SearchFigures, seconds: number): string {
  const { rows, own_rows, rebuild_seconds } = figures;
  const built = `The index was built in ${rebuild_seconds.toFixed(0)} s, ${whole(rows / rebuild_seconds)} rows a second.`;
  return [
    `${machine()}. ${whole(rows)} rows, ${whole(own_rows)} of them of the project that searches. ${built} ${whole(seconds)} s in all.`,
    aims(figures),
    table(['', 'p50 ms', 'p95 ms', 'p99 ms'], [['from a change to its being found', ...three(figures.found)]]),
    table(
      ['', 'idle p50 ms', 'p95 ms', 'p99 ms', 'indexing p50 ms', 'p95 ms', 'p99 ms'],
      figures.queries.map(({ name, idle, indexing }) => [name, ...three(idle), ...three(indexing)]),
    ),
    table(
      ['report', 'rows', 'rows a second', 'MiB of the api before', 'at most'],
      figures.reports.map((one) => [
        one.name,
        ...[one.rows, one.rows_per_second, one.memory_before, one.memory_max].map(whole),
      ]),
    ),
    table(
      ['paid order, 20 a second', 'p50 ms', 'p95 ms', 'p99 ms', 'p95 to no indexing'],
      figures.paid.map(({ name, latency }) => [name, ...three(latency), ratio(figures, name).toFixed(2)]),
    ),
  ].join('\n\n');
}

function aims(figures: SearchFigures): string {
  const slowest = Math.max(...figures.queries.map(({ indexing }) => indexing.p99));
  const slowestReport = Math.min(...figures.reports.map((one) => one.rows_per_second));
  const highest = Math.max(ratio(figures, 'indexing'), ratio(figures, 'Meilisearch away'));
  return [
    `Aims, and what was reached: a change is found within ${AIM.found_p99} ms at the 99th percentile (${whole(figures.found.p99)} ms);`,
    `every query within ${AIM.query_p99} ms at the 99th percentile while indexing (${whole(slowest)} ms);`,
    `reports at ${whole(AIM.rows_per_second)} rows a second (${whole(slowestReport)});`,
    `the p95 of a paid order at most ${AIM.paid_p95_ratio} times that without indexing (${highest.toFixed(2)}).`,
  ].join(' ');
}

function ratio({ paid }: SearchFigures, name: string): number {
  const p95 = (of: string) => paid.find((one) => one.name === of)!.latency.p95;
  return p95(name) / p95('no indexing');
}

const three = ({ p50, p95, p99 }: Quantiles) => [p50, p95, p99].map((one) => one.toFixed(one < 10 ? 1 : 0));

const whole = (value: number) => Math.round(value).toLocaleString('en');
