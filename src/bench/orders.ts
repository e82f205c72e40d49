import { createLogger } from '../log';
import { readFacts } from '../stack/launch';
import { connectTemporal } from '../temporal/connect';
import { BARE_FLOOR, startBareFloor } from './bare-floor';
import { countWork } from './counts';
import { measureOpenOrders, reportOpenOrders } from './open-orders';
import { memoryMiB } from './processes';
import type { WebhookReceiver } from './receiver';
import { benchReportText } from './report';
import { runRounds } from './rounds';
import { PAID_ORDER, PAID_ORDER_WITH_WEBHOOK, createRows } from './rows';
import { measureBesideSilentReceivers } from './silent-receivers';
import type { BenchStack } from './stack';

/**
 * Rounds, milliseconds of a row in each, how many operations run at once, how often each row is counted, and how many
 * deliveries go to silent receivers.
 */
export const FULL = {
  rounds: 4,
  window_ms: 1_200,
  concurrencies: { main: [1, 4, 16, 64], others: [1, 16] },
  samples: 3,
  silent: 420,
};
export const QUICK: typeof FULL = {
  rounds: 1,
  window_ms: 600,
  concurrencies: { main: [1, 16], others: [16] },
  samples: 1,
  silent: 48,
};

/** What is measured on a stack: all rows, the bare floor first. */
async function openRows(stack: BenchStack, receiver: WebhookReceiver) {
  const bare = await startBareFloor(stack);
  const { rows, close, ...open } = await createRows(stack, receiver);
  return {
    rows: [bare.row, ...rows],
    ...open,
    // The merchants and customers of all rows, and the receiver, work in this process and share the machine.
    pids: () => ({ ...readFacts(stack.data_dir).pids, ...bare.pids, bench: process.pid }),
    close: async () => {
      await bare.close();
      await close();
    },
  };
}

/** What an order costs beside the least that Temporal costs, as text. */
export async function orderFigures(
  stack: BenchStack,
  receiver: WebhookReceiver,
  plan: typeof FULL,
  say: (text: string) => void,
): Promise<string> {
  const began = performance.now();
  const client = connectTemporal({
    address: stack.facts.temporal_address,
    namespace: stack.facts.temporal_namespace,
    payload_keys: stack.variables['PAYLOAD_KEYS'],
    log: createLogger({ process: 'bench', level: 'warn' }),
  });
  const { rows, pids, close } = await openRows(stack, receiver);
  try {
    say('warming up');
    const onRound = (round: number) => say(`round ${round} of ${plan.rounds}`);
    const results = await runRounds(rows, { ...plan, pids, onRound });
    const memory = memoryMiB(pids());
    say(`sending ${plan.silent} webhooks to silent receivers`);
    const row = rows.find(({ name }) => name === PAID_ORDER_WITH_WEBHOOK)!;
    const silent = await measureBesideSilentReceivers(row, stack, client, plan.silent);
    say('counting events and statements');
    const counts = await countWork(rows, stack, client, plan.samples);
    const seconds = (performance.now() - began) / 1_000;
    return benchReportText({ ...plan, results, counts, silent, memory, seconds });
  } finally {
    await close();
    await client.connection.close();
  }
}

/** What an order costs beside this many open ones, as text. */
export async function besideOpenOrders(
  stack: BenchStack,
  receiver: WebhookReceiver,
  orders: number,
  say: (text: string) => void,
): Promise<string> {
  const { rows, close, ...opened } = await openRows(stack, receiver);
  try {
    const measured = rows.filter(({ name }) => name === BARE_FLOOR || name === PAID_ORDER);
    return reportOpenOrders(await measureOpenOrders({ stack, rows: measured, ...opened, orders, say }));
  } finally {
    await close();
  }
}
