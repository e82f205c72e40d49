import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../../src/bench/figures';
import { memoryMiB } from '../../src/bench/processes';
import { startWebhookReceiver } from '../../src/bench/receiver';
import { table } from '../../src/bench/report';
import { createRows, PAID_ORDER_WITH_WEBHOOK } from '../../src/bench/rows';
import { startBenchStack, type BenchStack } from '../../src/bench/stack';
import { connectDatabase } from '../../src/db/connection';
import type { Database } from '../../src/db/query';
import { findFigures } from '../../src/db/metrics/figures';
import { readFacts } from '../../src/stack/launch';
import type { Proof, ProofInput, ProofOutcome, Size } from '../proof';

/**
 * `warm_minutes`: until caches are full; the halves of what is left are compared. Four minutes are too short for that.
 */
const SIZES: Record<Size, { minutes: number; warm_minutes: number }> = {
  ci: { minutes: 4, warm_minutes: 4 },
  full: { minutes: 60, warm_minutes: 10 },
};
const PER_SECOND = 20;
/**
 * At so many under way no further order begins: orders of five seconds. What a stall has held up is then done within
 * the ten seconds that a request may take.
 */
const UNDER_WAY_MAX = 100;
const GROWTH_MAX = 1.1;
/** Memory that comes and goes with a garbage collection. MiB. */
const MEMORY_LEAST = 20;
/** How far behind the indexer may be: it gathers changes for ten seconds while nobody searches. */
const INDEX_SECONDS_MAX = 20;
/** So many of the orders of this rate were begun: otherwise the machine has stalled, and little is shown. */
const BEGUN_LEAST = 0.95;
const FAILED_MAX = 0.001;
/** Failed orders whose texts PROOFS.md has, and how many characters of each. */
const FAILURES_LISTED = 10;
const FAILURE_SHOWN_MAX = 300;
/** An order is paid and its webhook delivered within this time: two attempts. Milliseconds. */
const WITHIN_MS = 180_000;
/** Processes of the service; the servers beside them are in the table. */
const OWN = ['api', 'worker', 'manage', 'codec'];
/** Temporal as docker-compose.yml deploys it, with its `mem_limit` in MiB; else the development server. */
const ON_CLUSTER = process.env['TEMPORAL'] === 'cluster';
const CLUSTER_MEMORY_MAX = 2_048;

export const steadyLoad: Proof = {
  name: 'steady-load',
  title:
    'In an hour at 20 paid orders a second, each with its webhook, no process of the service grows, the search index keeps up, and 999 of 1,000 orders are paid.',
  not_proved: [
    'Growth over days.',
    'Memory and disk of PostgreSQL, Meilisearch and the development server of Temporal, which grow with their data: the table has their memory.',
  ],
  seeds: [1],
  in_ci: false,
  run,
};

/** What was seen in one minute. */
interface Minute {
  /** MiB by process. */
  memory: Record<string, number>;
  pids: Record<string, number>;
  /** Seconds since the oldest change that the indexer has not written. */
  index_seconds: number;
  /** Orders that were paid and whose webhook was delivered, and how long that took, in milliseconds. */
  paid: number;
  p50: number;
  failed: number;
}

async function run({ size, say }: ProofInput): Promise<ProofOutcome> {
  const { minutes, warm_minutes } = SIZES[size];
  const stack = await startBenchStack();
  const closing: (() => unknown)[] = [() => stack.discard()];
  try {
    const receiver = await startWebhookReceiver();
    closing.unshift(() => receiver.close());
    const db = connectDatabase(stack.facts.postgres_url, { pool_max: 1 });
    closing.unshift(() => db.destroy());
    const { rows, close } = await createRows(stack, receiver);
    closing.unshift(close);
    const load = new SteadyLoad(rows.find(({ name }) => name === PAID_ORDER_WITH_WEBHOOK)!);
    closing.unshift(() => load.end());
    load.start();
    const seen: Minute[] = [];
    while (seen.length < minutes) {
      await sleep(60_000);
      seen.push(await lookAt(stack, db, load));
      const { memory, index_seconds, paid, p50, failed } = seen.at(-1)!;
      const held = OWN.map((name) => `${name} ${Math.round(memory[name] ?? 0)}`).join(', ');
      say(
        `minute ${seen.length}: ${paid} paid, ${failed} failed, p50 ${p50.toFixed(0)} ms, index ${index_seconds} s behind, MiB: ${held}`,
      );
    }
    await load.end();
    return {
      counts: { minutes, orders: load.begun, 'not paid or without webhook': load.failures.length },
      violations: [...judgeLoad(load, minutes), ...judgeProcesses(seen, warm_minutes)],
      details: [tableOf(seen, warm_minutes), ...failuresOf(seen, load.failures)].join('\n\n'),
    };
  } finally {
    for (const end of closing) await end();
  }
}

/** Orders at a steady rate. */
class SteadyLoad {
  begun = 0;
  readonly failures: string[] = [];
  private durations: number[] = [];
  private failures_taken = 0;
  private readonly under_way = new Set<Promise<void>>();
  private readonly over = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly row: { once: (prepared: undefined) => Promise<string> }) {}

  start(): void {
    this.running = this.run();
  }

  /**
   * Of the orders that have ended since the last call: milliseconds of those paid and delivered, and how many failed.
   */
  takeEnded(): { durations: number[]; failed: number } {
    const taken = { durations: this.durations, failed: this.failures.length - this.failures_taken };
    this.durations = [];
    this.failures_taken = this.failures.length;
    return taken;
  }

  /** Begins no more orders, and resolves when the last has ended. */
  async end(): Promise<void> {
    this.over.abort();
    await this.running;
    await Promise.all(this.under_way);
  }

  private async run(): Promise<void> {
    for (let next = performance.now(); !this.over.signal.aborted; next += 1_000 / PER_SECOND) {
      // What a stall has kept from beginning is left out.
      next = Math.max(next, performance.now() - 1_000);
      await sleep(Math.max(0, next - performance.now()));
      while (this.under_way.size >= UNDER_WAY_MAX) await Promise.race(this.under_way);
      this.begun += 1;
      const began = performance.now();
      const late = sleep(WITHIN_MS, undefined, { ref: false }).then(() =>
        Promise.reject(new Error('not within minutes')),
      );
      const ended = Promise.race([this.row.once(undefined), late])
        .then(() => void this.durations.push(performance.now() - began))
        .catch((error: unknown) => void this.failures.push(String(error)))
        .finally(() => this.under_way.delete(ended));
      this.under_way.add(ended);
    }
  }
}

async function lookAt({ data_dir }: BenchStack, db: Database, load: SteadyLoad): Promise<Minute> {
  const { outbox_age } = await findFigures(db);
  const { pids } = readFacts(data_dir);
  const { durations, failed } = load.takeEnded();
  const p50 = durations.length === 0 ? Number.NaN : quantile(durations, 0.5);
  return { pids, memory: memoryMiB(pids), index_seconds: outbox_age, paid: durations.length, p50, failed };
}

function judgeLoad({ begun, failures }: SteadyLoad, minutes: number): string[] {
  const wanted = minutes * 60 * PER_SECOND;
  return [
    ...(begun < wanted * BEGUN_LEAST ? [`${begun} of ${wanted} orders were begun only`] : []),
    ...(failures.length > begun * FAILED_MAX
      ? [`${failures.length} of ${begun} orders failed, such as: ${failures.slice(0, 3).join('; ')}`]
      : []),
  ];
}

/**
 * Memory rises between garbage collections and falls with them: the highest of each half of the minutes is compared.
 */
function judgeProcesses(seen: readonly Minute[], warm_minutes: number): string[] {
  const half = Math.ceil((seen.length - warm_minutes) / 2);
  const highest = (name: string, of: readonly Minute[]) => Math.max(...of.map(({ memory }) => memory[name] ?? 0));
  const wrong = OWN.flatMap((name) => {
    const before = highest(name, seen.slice(warm_minutes, warm_minutes + half));
    const after = highest(name, seen.slice(warm_minutes + half));
    const has_grown = after > before * GROWTH_MAX && after - before > MEMORY_LEAST;
    const is_restarted = new Set(seen.map(({ pids }) => pids[name])).size > 1;
    return [
      ...(has_grown ? [`memory of ${name} grew from ${before.toFixed(0)} to ${after.toFixed(0)} MiB`] : []),
      ...(is_restarted ? [`${name} was started again`] : []),
    ];
  });
  const cluster = ON_CLUSTER ? Math.max(...seen.map(({ memory }) => memory['temporal'] ?? 0)) : 0;
  if (cluster > CLUSTER_MEMORY_MAX) wrong.push(`Temporal's server took ${cluster.toFixed(0)} MiB`);
  const behind = Math.max(...seen.map(({ index_seconds }) => index_seconds));
  return [...wrong, ...(behind > INDEX_SECONDS_MAX ? [`the search index was ${behind} s behind`] : [])];
}

/** The memory of each process after the first minutes, in the middle and at the end. */
function tableOf(seen: readonly Minute[], warm_minutes: number): string {
  const shown = [warm_minutes, Math.ceil(seen.length / 2), seen.length];
  const at = (minute: number) => seen[minute - 1]!;
  const names = Object.keys(at(seen.length).memory);
  const rows = [
    ...names.map((name) => [`memory MiB: ${name}`, ...shown.map((n) => (at(n).memory[name] ?? 0).toFixed(0))]),
    ['seconds that the search index is behind', ...shown.map((n) => String(at(n).index_seconds))],
    ['paid and webhook delivered, in the minute', ...shown.map((n) => String(at(n).paid))],
    ['p50 ms', ...shown.map((n) => at(n).p50.toFixed(0))],
  ];
  const server = ON_CLUSTER ? 'as docker-compose.yml deploys it' : 'the development server';
  return `Temporal: ${server}.\n\n${table(['', ...shown.map((n) => `minute ${n}`)], rows)}`;
}

/** How many orders failed in which minutes, and the texts of the first. Empty: none failed. */
function failuresOf(seen: readonly Minute[], failures: readonly string[]): string[] {
  if (failures.length === 0) return [];
  const minutes = seen.flatMap(({ failed }, n) => (failed === 0 ? [] : `${failed} in minute ${n + 1}`));
  const late = failures.length - seen.reduce((sum, { failed }) => sum + failed, 0);
  const texts = failures
    .slice(0, FAILURES_LISTED)
    .map((failure) => `- ${failure.replace(/\s+/g, ' ').slice(0, FAILURE_SHOWN_MAX)}`);
  return [
    `Not paid or without webhook: ${[...minutes, ...(late === 0 ? [] : [`${late} after the last`])].join(', ')}. The first of them:`,
    texts.join('\n'),
  ];
}
