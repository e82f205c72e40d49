import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { FULL, QUICK, besideOpenOrders, orderFigures } from '../bench/orders';
import { startWebhookReceiver } from '../bench/receiver';
import { measureSearch } from '../bench/search';
import { startBenchStack } from '../bench/stack';
import { measureWaits } from '../bench/waits';
import { withBlock } from '../generate/generated';
import { parseConfig } from '../config';
import { repositoryRoot } from '../stack/files';
import { messageOf } from '../errors';

/** Open orders from which the figures are written into BENCHMARKS.md. */
const OPEN_KEPT = 10_000;

const FULL_SEARCH = { rows: 1_000_000, samples: 200, change_seconds: 60, rounds: 5, paid_seconds: 16 };
const QUICK_SEARCH = { rows: 20_000, samples: 20, change_seconds: 5, rounds: 1, paid_seconds: 5 };

const FULL_WAITS = { waiting: 1_000, changes: 400, pause_ms: 100 };
const QUICK_WAITS = { waiting: 200, changes: 50, pause_ms: 100 };

/**
 * `npm run bench`: what an order costs beside the least that Temporal costs, in six minutes. `npm run bench -- search`:
 * how fast orders are found, among a million. `npm run bench -- waits`: requests that wait for the outcome. All run on a
 * stack of their own, print the figures and write them into BENCHMARKS.md; with `--quick` they take a minute and only
 * print. `npm run bench -- --open 100000`: what an order costs beside so many open ones; fewer only print.
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
  const receiver = await startWebhookReceiver();
  try {
    if (positionals[0] === 'search') {
      const plan = values.quick ? QUICK_SEARCH : FULL_SEARCH;
      publish('bench-search', await measureSearch(stack, receiver, plan, say), !values.quick);
    } else if (positionals[0] === 'waits') {
      publish('bench-waits', await measureWaits(stack, values.quick ? QUICK_WAITS : FULL_WAITS, say), !values.quick);
    } else if (open !== undefined) {
      publish('bench-open', await besideOpenOrders(stack, receiver, open, say), open >= OPEN_KEPT);
    } else {
      publish('bench', await orderFigures(stack, receiver, values.quick ? QUICK : FULL, say), !values.quick);
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

/** With the seconds since the start. */
function say(text: string): void {
  process.stderr.write(`bench: ${(performance.now() / 1_000).toFixed(0)} s: ${text}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`bench: ${messageOf(error)}\n`);
  process.exitCode = 1;
});
