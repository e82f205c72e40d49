import { setTimeout as sleep } from 'node:timers/promises';
import { withDatabase } from '../../src/db/connection';
import { queryRows, type Database } from '../../src/db/query';
import { readFacts } from '../../src/stack/launch';
import type { ProcessName } from '../../test/support/stack';
import type { WireEnd, WireServer } from './behind-proxies';
import type { WiredStack } from './wire';

/** Faults of processes, servers and connections, which hit whatever is under way. */

export interface FaultTargets {
  wired: WiredStack;
  /** A number from 0 to 1 that follows from the seed. */
  random: () => number;
}

interface FaultKind {
  name: string;
  /** How many times the deck has it; absent: once, as a fault that lasts for seconds. */
  weight?: number;
  /** For this long after its end it may still slow or fail requests. Milliseconds. */
  aftermath_ms: number;
  /** Begins it, lets it last, and ends it. */
  inject: (world: FaultTargets) => Promise<void>;
}

/** A milliseconds value between both, by the seed. */
const between = ({ random }: FaultTargets, least: number, most: number) => least + random() * (most - least);

const killed = (name: ProcessName, aftermath_ms: number): FaultKind => ({
  name: `${name} killed`,
  aftermath_ms,
  inject: ({ wired }) => wired.own.kill(name),
});

const stopped = (name: ProcessName, [least, most]: [number, number], aftermath_ms: number): FaultKind => ({
  name: `${name} stopped`,
  aftermath_ms,
  inject: (world) => world.wired.own.without(name, () => sleep(between(world, least, most))),
});

type Cut = 'reset' | 'answer cut' | 'away';

/** On the wire between the API or the worker, by the seed, and a server. */
const onWire = (name: string, to: WireServer, cut: Cut, ends: WireEnd[], ms: [number, number]): FaultKind => ({
  name,
  weight: 9,
  aftermath_ms: 6_000,
  async inject(world) {
    const proxy = await world.wired.proxy(ends[Math.floor(world.random() * ends.length)]!, to);
    const { listen, upstream } = proxy;
    const lasts = between(world, ...ms);
    if (cut === 'away') {
      await proxy.update({ enabled: false, listen, upstream });
      await sleep(lasts);
      await proxy.update({ enabled: true, listen, upstream });
      return;
    }
    const toxic = await proxy.addToxic({
      name: `${cut} ${world.random()}`.replaceAll(/\W/g, '-'),
      type: cut === 'reset' ? 'reset_peer' : 'limit_data',
      stream: 'downstream',
      toxicity: 1,
      // The request has passed and is carried out; its answer closes the connection.
      attributes: cut === 'reset' ? { timeout: 0 } : { bytes: 1 },
    });
    await sleep(lasts);
    await toxic.remove();
  },
});

/** A failover to a server that is still read-only: connections end, and new ones write nothing. */
const readOnly: FaultKind = {
  name: 'Postgres read-only',
  aftermath_ms: 14_000,
  async inject(world) {
    const { postgres_url } = readFacts(world.wired.own.data_dir);
    await withDatabase(postgres_url, async (superuser) => {
      try {
        await setReadOnly(superuser, true);
        await sleep(between(world, 15_000, 20_000));
      } finally {
        await setReadOnly(superuser, false);
      }
    });
  },
};

/** For all connections of the service. Repeats until it is done: Postgres may be restarting. */
export async function setReadOnly(superuser: Database, is_read_only: boolean): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      const setting = `default_transaction_read_only = ${is_read_only ? 'on' : 'off'}`;
      await queryRows(superuser, `alter role payments in database payments set ${setting}`);
      const own = `datname = 'payments' and usename = 'payments'`;
      await queryRows(superuser, `select pg_terminate_backend(pid) from pg_stat_activity where ${own}`);
      return;
    } catch (error) {
      if (tries >= 60) throw error;
      await sleep(500);
    }
  }
}

/** A worker that is gone leaves its tasks: Temporal gives them to another after six seconds, deliveries after ten. */
const TASK_LOST_MS = 14_000;

const BOTH: WireEnd[] = ['api', 'worker'];
const CUT_MS: [number, number] = [50, 400];

const FAULT_KINDS: readonly FaultKind[] = [
  killed('api', 6_000),
  killed('worker', TASK_LOST_MS),
  killed('simulator', 6_000),
  killed('temporal', TASK_LOST_MS),
  { name: 'postgres restarted', aftermath_ms: 10_000, inject: ({ wired }) => wired.own.kill('postgres', 'SIGINT') },
  stopped('api', [300, 3_000], 3_000),
  stopped('worker', [300, 8_000], TASK_LOST_MS),
  stopped('simulator', [300, 6_000], 6_000),
  stopped('temporal', [300, 5_000], TASK_LOST_MS),
  stopped('meilisearch', [300, 5_000], 3_000),
  readOnly,
  onWire('connections to Postgres reset', 'postgres', 'reset', BOTH, CUT_MS),
  onWire('statement done, its answer cut', 'postgres', 'answer cut', BOTH, CUT_MS),
  onWire('connections to Temporal reset', 'temporal', 'reset', BOTH, CUT_MS),
  onWire('call of Temporal done, its answer cut', 'temporal', 'answer cut', BOTH, CUT_MS),
  onWire('connections to the processor reset', 'processor', 'reset', BOTH, CUT_MS),
  onWire('call of the processor done, its answer cut', 'processor', 'answer cut', BOTH, CUT_MS),
  onWire('Meilisearch away', 'meilisearch', 'away', ['worker'], [500, 2_000]),
];

/** Whether the deck has a kind of fault only once. */
export const isRareFault = (kind: string) => FAULT_KINDS.some(({ name, weight }) => name === kind && !weight);

/** The end of the name of a kind whose subject was away by another fault. */
export const NOT_COMPLETE = ', not complete';

/** When a fault was there: performance.now() in milliseconds, its aftermath included. */
interface Window {
  kind: string;
  began: number;
  ended: number;
}

/**
 * Injects faults in storms, between which nothing is injected for so long that requests can meet no fault. `equal`: all
 * kinds come equally often, for a run that is too short for a weighted deck.
 */
export class FaultInjector {
  readonly windows: Window[] = [];
  private readonly over = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private deck: FaultKind[] = [];

  constructor(
    private readonly world: FaultTargets,
    private readonly options: { lanes: number; storm_ms: number; calm_ms: number; say: (line: string) => void },
    private readonly weights: 'weighted' | 'equal' = 'weighted',
  ) {}

  start(): void {
    this.running = this.run();
  }

  /** Lets the faults under way end, and mends everything. */
  async stop(): Promise<void> {
    await this.end();
    await this.world.wired.mend();
  }

  /** Begins no more faults, and resolves when those under way have ended. */
  async end(): Promise<void> {
    this.over.abort();
    await this.running;
  }

  /** How often each kind was injected. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = Object.fromEntries(FAULT_KINDS.map(({ name }) => [name, 0]));
    for (const { kind } of this.windows) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  }

  /** Whether a fault was there between both instants, its aftermath included. */
  wasThere(began: number, ended: number): boolean {
    return this.windows.some((window) => window.began <= ended && began <= window.ended);
  }

  private async run(): Promise<void> {
    const { lanes, storm_ms, calm_ms } = this.options;
    const isOver = () => this.over.signal.aborted;
    const pause = (ms: number) => sleep(ms, undefined, { signal: this.over.signal }).catch(() => undefined);
    await pause(calm_ms / 2);
    while (!isOver()) {
      const until = performance.now() + storm_ms;
      const lane = async () => {
        while (!isOver() && performance.now() < until) {
          await this.inject(this.next());
          await pause(200 + this.world.random() * 800);
        }
      };
      await Promise.all(Array.from({ length: lanes }, lane));
      await pause(calm_ms);
    }
  }

  /** The next of the deck, which is shuffled each time it is used up. */
  private next(): FaultKind {
    if (this.deck.length === 0) {
      const timesOf = ({ weight = 1 }: FaultKind) => (this.weights === 'equal' ? 1 : weight);
      const cards = FAULT_KINDS.flatMap((kind) => Array<FaultKind>(timesOf(kind)).fill(kind));
      const keyed = cards.map((kind) => [this.world.random(), kind] as const);
      this.deck = keyed.toSorted(([a], [b]) => a - b).map(([, kind]) => kind);
    }
    return this.deck.pop()!;
  }

  private async inject({ name, aftermath_ms, inject }: FaultKind): Promise<void> {
    const window: Window = { kind: name, began: performance.now(), ended: Number.POSITIVE_INFINITY };
    this.windows.push(window);
    try {
      await inject(this.world);
      const seconds = ((performance.now() - window.began) / 1_000).toFixed(1);
      if (isRareFault(name)) this.options.say(`${name}, for ${seconds} s`);
    } catch (error) {
      window.kind = `${name}${NOT_COMPLETE}`;
      this.options.say(`${name}: ${String(error)}`);
    } finally {
      window.ended = performance.now() + aftermath_ms;
    }
  }
}
