import { grownFigures, measureOpenOrders, reportOpenOrders } from '../../src/bench/open-orders';
import { startWebhookReceiver } from '../../src/bench/receiver';
import { createRows, PAID_ORDER } from '../../src/bench/rows';
import { startBenchStack } from '../../src/bench/stack';
import { readFacts } from '../../src/stack/launch';
import type { Proof, ProofInput, ProofOutcome, Size } from '../proof';

/** Orders of the last step; a tenth and a hundredth of them at the steps before. */
const ORDERS: Record<Size, number> = { ci: 1_000, full: 100_000 };

/**
 * What may not grow: a paid order, a start, and what the processes of the service hold. Servers grow with their data.
 */
const FLAT = [
  /^paid order, .* p50 ms$/,
  /^paid order: CPU ms in all$/,
  /^start of /,
  /^idle, CPU ms a second: (worker|postgres)$/,
  /^memory MiB: (api|worker|manage|codec)$/,
];

export const openOrders: Proof = {
  name: 'open-orders',
  title:
    'With 100,000 open orders and 10,000 open payment links a paid order takes the time and CPU that it takes with a hundredth of them, within 10 %; so do a start, recovery without faults and the memory of the processes.',
  not_proved: [
    'Memory and disk of PostgreSQL, Temporal and Meilisearch, which grow with their data: the table has them.',
    'Open orders of many days: all are opened in one run.',
    'Times on a machine that other programs use: compare CPU, and repeat the run.',
  ],
  seeds: [1],
  in_ci: false,
  run,
};

async function run({ size, say }: ProofInput): Promise<ProofOutcome> {
  const stack = await startBenchStack();
  const closing: (() => unknown)[] = [() => stack.discard()];
  try {
    const receiver = await startWebhookReceiver();
    closing.unshift(() => receiver.close());
    const { rows, close, ...open } = await createRows(stack, receiver);
    closing.unshift(close);
    const figures = await measureOpenOrders({
      ...{ stack, ...open, orders: ORDERS[size], say },
      rows: rows.filter(({ name }) => name === PAID_ORDER),
      pids: () => ({ ...readFacts(stack.data_dir).pids, bench: process.pid }),
    });
    const grown = grownFigures(figures);
    const figureOf = (name: string, step: Record<string, number>) => (step[name] ?? 0).toFixed(1);
    return {
      counts: { 'open orders': ORDERS[size], 'open payment links': ORDERS[size] / 10, 'grown figures': grown.length },
      violations: grown
        .filter((name) => FLAT.some((flat) => flat.test(name)))
        .map((name) => `${name}: ${figures.taken.map((step) => figureOf(name, step)).join(', ')}`),
      details: reportOpenOrders(figures),
    };
  } finally {
    for (const end of closing) await end();
  }
}
