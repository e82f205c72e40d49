import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { indexedOrders } from '../../activities/search-index';
import type { Database } from '../db/connection';
import { releaseLease, takeLease } from '../db/lease';
import {
  allOrderIds,
  finishSearchChanges,
  noteSearchRebuild,
  requestSearchRebuild,
  searchChanges,
  searchRebuild,
} from '../db/search';
import type { Logger } from '../log';
import { INDEX, REBUILT_INDEX } from '../search/settings';
import type { IndexName, SearchWriter } from '../search/writer';

/** Milliseconds from one batch to the next: half as much work for the index, and found a little later. */
const EVERY_MS = 400;
/** Changes in one batch. */
const BATCH = 2_000;
/** Orders that a rebuild writes at a time; changes wait for each. */
const REBUILD_BATCH = 2_000;
/** Another indexer takes over when this one has been silent for so long. Milliseconds. */
const LEASE_MS = 30_000;
/** How often the lease is kept, and how often others ask for it. Milliseconds. */
const LEASE_EVERY_MS = 5_000;
/** Pause after a failure. Milliseconds. */
const FAILED_MS = 1_000;

/** Another process writes to the index. */
class LeaseLost extends Error {}

export interface IndexerServices {
  db: Database;
  index: SearchWriter;
  log: Logger;
}

/**
 * Brings changes of orders into the search index (rules 20.12). One of all processes does it at a time, by lease, and
 * one batch at a time, so that no older picture of an order can overwrite a newer one. It starts again where it was
 * stopped: a change leaves the outbox when the index has it.
 */
export class Indexer {
  private readonly lease = { name: 'search indexer', holder: randomUUID(), lasts_ms: LEASE_MS };
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  /** When the lease was last taken, by this machine's monotonic clock; undefined while another process has it. */
  private leased_at: number | undefined;
  private is_failing = false;

  constructor(private readonly services: IndexerServices) {}

  start(): void {
    this.running = this.run();
  }

  /** Begins nothing new, and resolves when the present batch is done. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
    await releaseLease(this.services.db, this.lease).catch(() => undefined);
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      const started = performance.now();
      let pause_ms = EVERY_MS;
      try {
        if (!(await this.hold())) pause_ms = LEASE_EVERY_MS;
        else if ((await searchRebuild(this.services.db)) !== undefined) await this.rebuild();
        else await this.writeChanges([INDEX]);
        this.is_failing = false;
      } catch (error) {
        this.failed(error);
        pause_ms = FAILED_MS;
      }
      await this.pause(pause_ms - (performance.now() - started));
    }
  }

  /** Keeps the lease; whether this process has it. Whoever gets it first looks whether the index is there. */
  private async hold(): Promise<boolean> {
    const now = performance.now();
    if (this.leased_at !== undefined && now - this.leased_at < LEASE_EVERY_MS) return true;
    const had = this.leased_at !== undefined;
    this.leased_at = undefined;
    if ((await takeLease(this.services.db, this.lease)) === undefined) return false;
    if (!had) await this.prepare();
    this.leased_at = now;
    return true;
  }

  /** A server that is new, or an index of an earlier version, needs a rebuild. */
  private async prepare(): Promise<void> {
    const { db, index, log } = this.services;
    await index.makeKeys();
    const state = await index.state();
    if (state === 'current') return;
    log.info({ state }, 'the search index is built anew');
    await requestSearchRebuild(db, Date.now());
  }

  /** Keeps the lease while a long piece of work goes on. Throws when another process has it, or this one is to stop. */
  private async keepOn(): Promise<void> {
    if (this.stopping.signal.aborted || !(await this.hold())) throw new LeaseLost('the work goes on elsewhere');
  }

  /** Writes one batch of changes; returns how many there were. */
  private async writeChanges(names: readonly IndexName[]): Promise<number> {
    const { db, index, log } = this.services;
    const changes = await searchChanges(db, BATCH);
    if (changes.length === 0) return 0;
    const orders = await indexedOrders(db, [...new Set(changes.map(({ order_id }) => order_id))]);
    // A process that stood still must not write what it read before another took over.
    if (performance.now() - (this.leased_at ?? 0) > LEASE_MS / 2) throw new LeaseLost('the lease is too old to write');
    const refusals = (await Promise.all(names.map((name) => index.write(name, orders)))).flat();
    for (const refusal of refusals) log.error(refusal, 'the search index refuses an order');
    await finishSearchChanges(db, changes, refusals, Date.now());
    return changes.length;
  }

  /**
   * Fills a second index while the first answers, and has them change places. Changes go to both in between, all by
   * this one writer, so that nothing newer is overwritten.
   */
  private async rebuild(): Promise<void> {
    const { db, index, log } = this.services;
    const targets: IndexName[] = (await index.state()) === 'missing' ? [REBUILT_INDEX] : [INDEX, REBUILT_INDEX];
    await index.beginRebuild();
    let written = 0;
    for await (const order_ids of allOrderIds(db, REBUILD_BATCH)) {
      await this.keepOn();
      await this.writeChanges(targets);
      await index.write(REBUILT_INDEX, await indexedOrders(db, order_ids));
      await noteSearchRebuild(db, (written += order_ids.length));
    }
    // Changes that came while the last batch was written.
    while ((await this.writeChanges(targets)) === BATCH) await this.keepOn();
    await index.endRebuild();
    await noteSearchRebuild(db, undefined);
    log.info({ orders: written }, 'the search index was built anew');
  }

  /** The first failure of a row is logged: an index that is away is away for a while. */
  private failed(error: unknown): void {
    this.leased_at = undefined;
    if (error instanceof LeaseLost || this.stopping.signal.aborted) return;
    if (!this.is_failing) this.services.log.warn({ err: error }, 'changes do not reach the search index, trying on');
    this.is_failing = true;
  }

  private async pause(pause_ms: number): Promise<void> {
    if (pause_ms > 0) await sleep(pause_ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}
