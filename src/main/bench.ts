import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { BARE_FLOOR, startBareFloor } from '../bench/bare-floor';
import { count } from '../bench/counts';
import { measureOpenOrders, reportOpenOrders } from '../bench/open-orders';
import { memoryMiB } from '../bench/processes';
import { startReceiver, type WebhookReceiver } from '../bench/receiver';
import { reportText } from '../bench/report';
import { runRounds } from '../bench/rounds';
import { PAID_ORDER, PAID_ORDER_WITH_WEBHOOK, createRows } from '../bench/rows';
import { measureSearch } from '../bench/search';
import { measureBesideSilentReceivers } from '../bench/silent-receivers';
import { startBenchStack, type BenchStack } from '../bench/stack';
import { measureWaits } from '../bench/waits';
import { withBlock } from '../generate/generated';
import { parseConfig } from '../config';
import { repositoryRoot } from '../stack/files';
import { readFacts } from '../stack/launch';
import { createLogger } from '../log';
import { connectTemporal } from '../temporal/connect';

/**
 * Rounds, milliseconds of a row in each, how many operations run at once, how often each row is counted, and how many
 * deliveries go to silent receivers.
 */
const FULL = {
  rounds: 4,
  window_ms: 1_200,
  concurrencies: { main: [1, 4, 16, 64], others: [1, 16] },
  samples: 3,
  silent: 420,
};
const QUICK = {
  rounds: 1,
  window_ms: 600,
  concurrencies: { main: [1, 16], others: [16] },
  samples: 1,
  silent: 48,
};
/** Open orders from which the figures are written into BENCHMARKS.md. */
const OPEN_KEPT = 10_000;

const FULL_SEARCH = { rows: 1_000_000, samples: 200, change_seconds: 60, rounds: 5, paid_seconds: 16 };
const QUICK_SEARCH = { rows: 20_000, samples: 20, change_seconds: 5, rounds: 1, paid_seconds: 5 };

const FULL_WAITS = { waiting: 1_000, changes: 400, pause_ms: 100 };
const QUICK_WAITS = { waiting: 200, changes: 50, pause_ms: 100 };

/**
 * `npm run bench`: what an order costs beside the least that Temporal costs, in six minutes. `npm run bench -- search`:
 * how fast orders are found, among a million. `npm run bench -- waits`: requests that wait for the outcome. All run on a stack of their own, print the figures and write them into
 * BENCHMARKS.md; with `--quick` they take a minute and only print. `npm run bench -- --open 100000`: what an order costs
 * beside so many open ones; fewer only print.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { quick: { type: 'boolean', default: false }, open: { type: 'string' } },
  });
  const open = values.open === undefined ? undefined : Number(values.open);
  if (open !== undefined && !(Number.isInteger(open) && open > 0)) throw new Error('--open takes a number of orders');
  say('starting a stack of its own');
  const stack = await startBenchStack();
  stopWhenAsked(stack);
  const receiver = await startReceiver();
  try {
    if (positionals[0] === 'search') {
      const plan = values.quick ? QUICK_SEARCH : FULL_SEARCH;
      publish('bench-search', await measureSearch(stack, receiver, plan, say), !values.quick);
    } else if (positionals[0] === 'waits') {
      publish('bench-waits', await measureWaits(stack, values.quick ? QUICK_WAITS : FULL_WAITS, say), !values.quick);
    } else if (open !== undefined) {
      publish('bench-open', await besideOpenOrders(stack, receiver, open), open >= OPEN_KEPT);
    } else {
      publish('bench', await figuresOf(stack, receiver, values.quick ? QUICK : FULL), !values.quick);
    }
  } finally {
    await receiver.close();
    await stack.discard();
  }
}

/** Prints figures and, with `isKept`, writes those of the dev server to their place in BENCHMARKS.md. */
function publish(place: string, figures: string, isKept: boolean): void {
  process.stdout.write(`\n${figures}\n`);
  if (!isKept || parseConfig(process.env).TEMPORAL === 'cluster') return;
  const file = path.join(repositoryRoot(), 'BENCHMARKS.md');
  writeFileSync(file, withBlock(readFileSync(file, 'utf8'), place, figures));
}

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

async function figuresOf(stack: BenchStack, receiver: WebhookReceiver, plan: typeof FULL): Promise<string> {
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
    const counts = await count(rows, stack, client, plan.samples);
    const seconds = (performance.now() - began) / 1_000;
    return reportText({ ...plan, results, counts, silent, memory, seconds });
  } finally {
    await close();
    await client.connection.close();
  }
}

async function besideOpenOrders(stack: BenchStack, receiver: WebhookReceiver, orders: number): Promise<string> {
  const { rows, close, ...opened } = await openRows(stack, receiver);
  try {
    const measured = rows.filter(({ name }) => name === BARE_FLOOR || name === PAID_ORDER);
    return reportOpenOrders(await measureOpenOrders({ stack, rows: measured, ...opened, orders, say }));
  } finally {
    await close();
  }
}

/** Ctrl-C leaves neither servers nor data behind. */
function stopWhenAsked(stack: BenchStack): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      void stack.discard().finally(() => process.exit(1));
    });
  }
}

/** With the seconds since the start. */
function say(text: string): void {
  process.stderr.write(`bench: ${(performance.now() / 1_000).toFixed(0)} s: ${text}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
