import { setTimeout as sleep } from 'node:timers/promises';
import { mean, quantile } from '../../src/bench/figures';
import { memoryMiB } from '../../src/bench/processes';
import { startReceiver } from '../../src/bench/receiver';
import { table } from '../../src/bench/report';
import { createRows, PAID_ORDER_WITH_WEBHOOK } from '../../src/bench/rows';
import { startBenchStack, type BenchStack } from '../../src/bench/stack';
import { connectDatabase, queryRows, type Database } from '../../src/db/connection';
import { readFacts } from '../../src/stack/launch';
import type { Proof, ProofInput, ProofOutcome, Size } from '../proof';

/** `warm_minutes`: until caches are full; `compared_minutes`: the first after that are compared with the last ones. */
const SIZES: Record<Size, { minutes: number; warm_minutes: number; compared_minutes: number }> = {
  ci: { minutes: 4, warm_minutes: 1, compared_minutes: 1 },
  full: { minutes: 60, warm_minutes: 10, compared_minutes: 10 },
};
const PER_SECOND = 20;
/** At so many under way no further order begins: a machine that stalls has no backlog afterwards. */
const UNDER_WAY_MAX = 200;
const GROWTH_MAX = 1.1;
/** Memory that comes and goes with a garbage collection. MiB. */
const MEMORY_LEAST = 20;
/** Changes that the indexer has not written are at most those of so many seconds. */
const OUTBOX_SECONDS = 10;
const FAILED_MAX = 0.001;
/** An order is paid and its webhook delivered within this time: two attempts. Milliseconds. */
const WITHIN_MS = 180_000;
/** Processes of the service; the servers beside them are in the table. */
const OWN = ['api', 'worker', 'manage', 'codec'];

export const steadyLoad: Proof = {
  name: 'steady-load',
  title:
    'In an hour at 20 paid orders a second, each with its webhook, no process of the service grows, the search index keeps up, and 999 of 1,000 orders are paid.',
  not_proved: [
    'Growth over days.',
    'Memory and disk of PostgreSQL, Temporal and Meilisearch, which grow with their data: the table has their memory.',
  ],
  seeds: [1],
  in_ci: false,
  run,
};

/** What was seen in one minute. */
interface Minute {
  /** MiB by process. */
  memory: Record<string, number>;
  /** Changes that wait for the indexer. */
  outbox: number;
  /** Orders that were paid and whose webhook was delivered, and how long that took, in milliseconds. */
  paid: number;
  p50: number;
}

async function run({ size, say }: ProofInput): Promise<ProofOutcome> {
  const { minutes, warm_minutes, compared_minutes } = SIZES[size];
  const stack = await startBenchStack();
  const receiver = await startReceiver();
  const db = connectDatabase(stack.facts.postgres_url, { pool_max: 1 });
  try {
    const { rows, close } = await createRows(stack, receiver);
    const load = new SteadyLoad(rows.find(({ name }) => name === PAID_ORDER_WITH_WEBHOOK)!);
    const seen: Minute[] = [];
    load.start();
    for (let minute = 1; minute <= minutes; minute += 1) {
      await sleep(60_000);
      seen.push(await lookAt(stack, db, load.takeDurations()));
      const { memory, outbox, paid, p50 } = seen.at(-1)!;
      const held = OWN.map((name) => `${name} ${Math.round(memory[name] ?? 0)}`).join(', ');
      say(`minute ${minute}: ${paid} paid, p50 ${Math.round(p50)} ms, ${outbox} changes wait, MiB: ${held}`);
    }
    await load.end();
    await close();
    const first = seen.slice(warm_minutes, warm_minutes + compared_minutes);
    return {
      counts: { minutes, orders: load.begun, 'not paid or without webhook': load.failures.length },
      violations: judge(load, first, seen.slice(-compared_minutes)),
      details: tableOf(seen, warm_minutes),
    };
  } finally {
    await db.destroy();
    receiver.close();
    await stack.discard();
  }
}

/** Orders at a steady rate. */
class SteadyLoad {
  begun = 0;
  readonly failures: string[] = [];
  private durations: number[] = [];
  private readonly under_way = new Set<Promise<void>>();
  private readonly over = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly row: { once: (prepared: undefined) => Promise<string> }) {}

  start(): void {
    this.running = this.run();
  }

  /** Milliseconds of the orders that have ended since the last call. */
  takeDurations(): number[] {
    const taken = this.durations;
    this.durations = [];
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

async function lookAt({ data_dir }: BenchStack, db: Database, durations: number[]): Promise<Minute> {
  const [waiting] = await queryRows<{ count: number }>(db, 'select count(*)::int as count from search_outbox', {});
  const memory = memoryMiB({ ...readFacts(data_dir).pids });
  return { memory, outbox: waiting!.count, paid: durations.length, p50: quantile(durations, 0.5) };
}

function judge({ begun, failures }: SteadyLoad, first: readonly Minute[], last: readonly Minute[]): string[] {
  const memoryOf = (name: string, of: readonly Minute[]) => mean(of.map(({ memory }) => memory[name] ?? 0));
  const grown = OWN.flatMap((name) => {
    const [before, after] = [memoryOf(name, first), memoryOf(name, last)];
    const has_grown = after > before * GROWTH_MAX && after - before > MEMORY_LEAST;
    return has_grown ? [`memory of ${name} grew from ${before.toFixed(0)} to ${after.toFixed(0)} MiB`] : [];
  });
  const outbox = Math.max(...last.map((minute) => minute.outbox));
  return [
    ...grown,
    ...(outbox > PER_SECOND * OUTBOX_SECONDS ? [`${outbox} changes waited for the indexer`] : []),
    ...(failures.length > begun * FAILED_MAX
      ? [`${failures.length} of ${begun} orders failed, such as: ${failures.slice(0, 3).join('; ')}`]
      : []),
  ];
}

/** The memory of each process after the first minutes, in the middle and at the end. */
function tableOf(seen: readonly Minute[], warm_minutes: number): string {
  const shown = [warm_minutes, Math.ceil(seen.length / 2), seen.length];
  const at = (minute: number) => seen[minute - 1]!;
  const names = Object.keys(at(seen.length).memory);
  const rows = [
    ...names.map((name) => [`memory MiB: ${name}`, ...shown.map((n) => (at(n).memory[name] ?? 0).toFixed(0))]),
    ['changes that wait for the indexer', ...shown.map((n) => String(at(n).outbox))],
    ['paid and webhook delivered, in the minute', ...shown.map((n) => String(at(n).paid))],
    ['p50 ms', ...shown.map((n) => at(n).p50.toFixed(0))],
  ];
  return table(['', ...shown.map((n) => `minute ${n}`)], rows);
}
