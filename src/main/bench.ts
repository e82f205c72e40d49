import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startBareFloor } from '../bench/bare-floor';
import { count } from '../bench/counts';
import { startReceiver, type WebhookReceiver } from '../bench/receiver';
import { reportText } from '../bench/report';
import { runRounds } from '../bench/rounds';
import { PAID_ORDER_WITH_WEBHOOK, createRows } from '../bench/rows';
import { measureSearch } from '../bench/search';
import { measureBesideSilentReceivers } from '../bench/silent-receivers';
import { startBenchStack, type BenchStack } from '../bench/stack';
import { withBlock } from '../generate/generated';
import { repositoryRoot } from '../stack/files';
import { createLogger } from '../log';
import { connectTemporal } from '../temporal/connect';

const CONCURRENCIES = [1, 4, 16];
/**
 * Rounds, milliseconds of a row in each, how often each row is counted, and how many deliveries go to silent receivers.
 */
const FULL = { rounds: 5, window_ms: 1_400, samples: 5, silent: 500 };
const QUICK = { rounds: 1, window_ms: 600, samples: 1, silent: 60 };

const FULL_SEARCH = { rows: 1_000_000, samples: 200, change_seconds: 60, rounds: 5, paid_seconds: 16 };
const QUICK_SEARCH = { rows: 20_000, samples: 20, change_seconds: 5, rounds: 1, paid_seconds: 5 };

/**
 * `npm run bench`: what an order costs beside the least that Temporal costs, in five minutes. `npm run bench -- search`:
 * how fast orders are found, among a million. Both run on a stack of their own, print the figures and write them into
 * BENCHMARKS.md; with `--quick` they take a minute and only print.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { quick: { type: 'boolean', default: false } },
  });
  say('starting a stack of its own');
  const stack = await startBenchStack();
  stopWhenAsked(stack);
  const receiver = await startReceiver();
  try {
    if (positionals[0] === 'search') {
      const plan = values.quick ? QUICK_SEARCH : FULL_SEARCH;
      publish('bench-search', await measureSearch(stack, receiver, plan, say), !values.quick);
    } else {
      publish('bench', await figuresOf(stack, receiver, values.quick ? QUICK : FULL), !values.quick);
    }
  } finally {
    receiver.close();
    await stack.discard();
  }
}

/** Prints figures and, with `isKept`, writes them to their place in BENCHMARKS.md. */
function publish(place: string, figures: string, isKept: boolean): void {
  process.stdout.write(`\n${figures}\n`);
  if (!isKept) return;
  const file = path.join(repositoryRoot(), 'BENCHMARKS.md');
  writeFileSync(file, withBlock(readFileSync(file, 'utf8'), place, figures));
}

async function figuresOf(stack: BenchStack, receiver: WebhookReceiver, plan: typeof FULL): Promise<string> {
  const began = performance.now();
  const client = connectTemporal({
    address: stack.facts.temporal_address,
    namespace: stack.facts.temporal_namespace,
    payload_keys: stack.variables['PAYLOAD_KEYS'],
    log: createLogger({ process: 'bench', level: 'warn' }),
  });
  const bare = await startBareFloor(stack);
  const shop = await createRows(stack, receiver);
  const rows = [bare.row, ...shop.rows];
  try {
    say('warming up');
    const results = await runRounds(rows, {
      ...plan,
      concurrencies: CONCURRENCIES,
      // The merchants and customers of all rows, and the receiver, work in this process and share the machine.
      pids: () => ({ ...stack.facts.pids, ...bare.pids, bench: process.pid }),
      onRound: (round) => say(`round ${round} of ${plan.rounds}`),
    });
    say(`sending ${plan.silent} webhooks to silent receivers`);
    const row = rows.find(({ name }) => name === PAID_ORDER_WITH_WEBHOOK)!;
    const silent = await measureBesideSilentReceivers(row, stack, client, plan.silent);
    say('counting events and statements');
    const counts = await count(rows, stack, client, plan.samples);
    return reportText(results, counts, silent, { ...plan, seconds: (performance.now() - began) / 1_000 });
  } finally {
    await bare.close();
    await shop.close();
    await client.connection.close();
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
