import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { count } from '../bench/counts';
import { startReceiver } from '../bench/receiver';
import { report, withFigures } from '../bench/report';
import { runRounds } from '../bench/rounds';
import { PAID_ORDER_WITH_WEBHOOK, createRows } from '../bench/rows';
import { SEARCH_STEPS, measureSearch, type SearchPlan, type SearchStep } from '../bench/search';
import { measureBesideSilentReceivers } from '../bench/silent-receivers';
import { startBenchStack, type BenchStack } from '../bench/stack';
import { repositoryRoot } from '../stack/files';
import { createLogger } from '../log';
import { connectTemporal } from '../temporal/connect';

const CONCURRENCIES = [1, 4, 16];
/**
 * Rounds, milliseconds of a row in each, how often each row is counted, and how many deliveries go to silent receivers.
 */
const FULL = { rounds: 5, window_ms: 1_400, samples: 5, silent: 500 };
const QUICK = { rounds: 1, window_ms: 600, samples: 1, silent: 60 };

/** With a million orders; with fewer the samples are few too. */
const FULL_SEARCH = { samples: 200, change_seconds: 60, rounds: 5, paid_seconds: 16 };
const QUICK_SEARCH = { samples: 20, change_seconds: 5, rounds: 1, paid_seconds: 5 };
const FULL_SEARCH_ROWS = 1_000_000;

/**
 * `npm run bench`: what an order costs beside the least that Temporal costs, on a stack of its own. Writes the figures
 * to the terminal and into BENCHMARKS.md, in five minutes; `--quick` takes less than a minute and writes no file. `npm
 * run bench -- search`: how fast orders are found, with `--rows` orders; with a million of them it writes each part of
 * the file when it is measured. `--only` measures one part.
 */
async function main(): Promise<void> {
  const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      rows: { type: 'string', default: '20000' },
      only: { type: 'string' },
    },
  });
  const rows = Number(options.rows);
  const steps = SEARCH_STEPS.filter((step) => options.only === undefined || step === options.only);
  if (steps.length === 0) throw new Error(`--only takes one of ${SEARCH_STEPS.join(', ')}`);
  say('starting a stack of its own');
  const stack = await startBenchStack();
  stopWhenAsked(stack);
  try {
    if (positionals[0] === 'search') {
      const isFull = rows >= FULL_SEARCH_ROWS && !options.quick;
      await benchSearch(stack, { rows, ...(isFull ? FULL_SEARCH : QUICK_SEARCH) }, steps, isFull);
    } else {
      publish('bench', await figuresOf(stack, options.quick ? QUICK : FULL), !options.quick);
    }
  } finally {
    await stack.discard();
  }
}

/** Prints figures and, with `isKept`, writes them to their place in BENCHMARKS.md. */
function publish(place: string, figures: string, isKept: boolean): void {
  process.stdout.write(`\n${figures}\n`);
  if (!isKept) return;
  const file = path.join(repositoryRoot(), 'BENCHMARKS.md');
  writeFileSync(file, withFigures(readFileSync(file, 'utf8'), place, figures));
}

async function benchSearch(
  stack: BenchStack,
  plan: SearchPlan,
  steps: readonly SearchStep[],
  isKept: boolean,
): Promise<void> {
  const receiver = await startReceiver();
  try {
    for await (const { name, text } of measureSearch(stack, receiver, plan, steps, say)) {
      publish(`bench-search-${name}`, text, isKept);
    }
  } finally {
    receiver.close();
  }
}

async function figuresOf(stack: BenchStack, plan: typeof FULL): Promise<string> {
  const began = performance.now();
  const receiver = await startReceiver();
  const client = connectTemporal({
    address: stack.facts.temporal_address,
    namespace: stack.facts.temporal_namespace,
    payload_keys: stack.variables['PAYLOAD_KEYS'],
    log: createLogger({ process: 'bench', level: 'warn' }),
  });
  const { rows, close } = await createRows(stack, receiver);
  try {
    say('warming up');
    const results = await runRounds(rows, {
      ...plan,
      concurrencies: CONCURRENCIES,
      // The merchants and customers of all rows, and the receiver, work in this process and share the machine.
      pids: () => ({ ...stack.facts.pids, bench: process.pid }),
      onRound: (round) => say(`round ${round} of ${plan.rounds}`),
    });
    say(`sending ${plan.silent} webhooks to silent receivers`);
    const row = rows.find(({ name }) => name === PAID_ORDER_WITH_WEBHOOK)!;
    const silent = await measureBesideSilentReceivers(row, stack, client, plan.silent);
    say('counting events and statements');
    const counts = await count(rows, stack, client, plan.samples);
    return report(results, counts, silent, { ...plan, seconds: (performance.now() - began) / 1_000 });
  } finally {
    await close();
    receiver.close();
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
