import { machine, table } from './report';
import type { Quantiles } from './figures';
import type { IndexFigures } from './search-index';
import { NO_INDEXING, type PaidFigures } from './search-paid';
import type { QueryFigures } from './search-queries';
import type { ReportFigures } from './search-reports';

/** Milliseconds and rows a second, with a million rows on two cores. */
const AIM = { found_p99: 1_000, query_p99: 50, rows_per_second: 40_000, paid_p95_ratio: 1.05 };

export function indexReport({ rows, own_rows, seconds, memory }: IndexFigures): string {
  return [
    `${machine()}. ${whole(rows)} rows, ${whole(own_rows)} of them of the project that searches.`,
    `The index was built in ${whole(seconds)} s, ${whole(rows / seconds)} rows a second;`,
    `Meilisearch took at most ${whole(memory)} MiB of memory beside its files.`,
  ].join(' ');
}

export function queriesReport({ found, queries }: QueryFigures): string {
  const slowest = Math.max(...queries.map(({ indexing }) => indexing.p99));
  return [
    `Aim: a change is found within ${whole(AIM.found_p99)} ms at the 99th percentile. Reached: ${whole(found.p99)} ms.`,
    table(['', 'p50 ms', 'p95 ms', 'p99 ms'], [['from a change to its being found', ...three(found)]]),
    `Aim: a query takes ${AIM.query_p99} ms at the 99th percentile while indexing. Reached by the slowest: ${whole(slowest)} ms.`,
    table(
      ['', 'idle p50 ms', 'p95 ms', 'p99 ms', 'indexing p50 ms', 'p95 ms', 'p99 ms'],
      queries.map(({ name, idle, indexing }) => [name, ...three(idle), ...three(indexing)]),
    ),
  ].join('\n\n');
}

export function reportsReport(reports: readonly ReportFigures[]): string {
  const slowest = Math.min(...reports.map((one) => one.rows_per_second));
  return [
    `Aim: ${whole(AIM.rows_per_second)} rows a second. Reached by the slower: ${whole(slowest)}.`,
    table(
      ['report', 'rows', 'rows a second', 'MiB of the api before', 'at most'],
      reports.map((one) => [
        one.name,
        ...[one.rows, one.rows_per_second, one.memory_before, one.memory_max].map(whole),
      ]),
    ),
  ].join('\n\n');
}

export function paidReport(paid: readonly PaidFigures[]): string {
  const reached = paid.flatMap(({ name, p95_ratio }) =>
    name === NO_INDEXING ? [] : [`${p95_ratio.toFixed(2)} (${name})`],
  );
  return [
    `Aim: the p95 of a paid order is at most ${AIM.paid_p95_ratio} times that without indexing. Reached: ${reached.join('; ')}.`,
    table(
      ['paid order, 20 a second', 'p50 ms', 'p95 ms', 'p99 ms', 'p95 to no indexing', 'CPU ms'],
      paid.map(({ name, latency, p95_ratio, cpu_ms }) => [
        name,
        ...three(latency),
        p95_ratio.toFixed(2),
        cpu_ms.toFixed(1),
      ]),
    ),
  ].join('\n\n');
}

const three = ({ p50, p95, p99 }: Quantiles) => [p50, p95, p99].map((one) => one.toFixed(one < 10 ? 1 : 0));

const whole = (value: number) => Math.round(value).toLocaleString('en');
