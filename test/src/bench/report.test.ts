import { BARE_FLOOR } from '../../../src/bench/bare-floor';
import { benchReportText } from '../../../src/bench/report';
import type { Result } from '../../../src/bench/rounds';
import { CREATE_ORDER, LINK_PAYMENT, PAGE_PAYMENT, PAID_ORDER, PAID_ORDER_WITH_WEBHOOK } from '../../../src/bench/rows';

const FLOOR: Result = {
  row: BARE_FLOOR,
  at_once: 16,
  throughput: 100,
  p50: 13,
  p95: 20,
  throughput_ratio: 1,
  p95_ratio: 1,
  refused: 0,
  cpu: { temporal: 10, worker: 8, api: 2 },
};
const COST = { temporal: 10, worker: 20, api: 5, postgres: 3, simulator: 2 };

/**
 * Every row costs 40 ms of CPU, five of them Postgres's and the simulator's, and has 72 % of the floor's throughput.
 */
const report = benchReportText({
  results: [1, 16].flatMap((at_once) => [
    { ...FLOOR, at_once },
    ...[CREATE_ORDER, PAID_ORDER, PAID_ORDER_WITH_WEBHOOK, PAGE_PAYMENT, LINK_PAYMENT].map((row) => ({
      ...FLOOR,
      row,
      at_once,
      p50: 24,
      throughput_ratio: 0.72,
      cpu: COST,
    })),
  ]),
  counts: [{ row: PAID_ORDER, events: 9, workflow_tasks: 1, actions: 3, statements: 7 }],
  silent: { deliveries: 500, alone: { p50: 50, p95: 60 }, beside: { p50: 60, p95: 120 } },
  memory: { temporal: 400.4 },
  rounds: 4,
  window_ms: 1_200,
  seconds: 350,
});

it.each([
  ['create order: CPU', '≥ 85 %', '50 %', 'no'],
  ['paid order: throughput', '≥ 72 %', '72 %', 'yes'],
  [
    'paid order: CPU to that of bare floor, Postgres and simulator',
    '≤ 1.30 times',
    '1.60 times (40.0 and 25.0 ms)',
    'no',
  ],
  ['paid order: p50, one at a time', '≤ 1.77 times', '1.85 times (24 and 13 ms)', 'no'],
  ['payment through a link: CPU', '≥ 40 %', '50 %', 'yes'],
  ['a webhook beside silent receivers: p95 to that alone', '≤ 2.00 times', '2.00 times', 'yes'],
])('the report shows the aim "%s", %s, with what was reached', (...cells) => {
  expect(cellsOf(cells[0])).toEqual(cells);
});

it("a row's cost is its counts, the CPU of its processes and the bare floor's share of it", () => {
  const costs = report.split('\n').findLast((line) => line.startsWith(`| ${PAID_ORDER} `))!;
  expect(split(costs)).toEqual([PAID_ORDER, '9', '1', '3', '7', '10.0', '20.0', '5.0', '3.0', '2.0', '40.0', '50 %']);
});

const split = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
const cellsOf = (first: string) => split(report.split('\n').find((line) => line.startsWith(`| ${first} `)) ?? '');
