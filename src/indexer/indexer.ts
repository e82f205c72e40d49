import { indexedOrders } from '../../activities/search-index';
import type { Database } from '../db/query';
import { KeptLease } from '../db/lease';
import {
  addSearchChanges,
  allOrderIds,
  endSearchRebuild,
  dueSearchChanges,
  finishSearchChanges,
  noteSearchRebuild,
  requestSearchRebuild,
  searchChanges,
  searchRebuild,
  type SearchChange,
  type SearchRefusal,
} from '../db/search/search-outbox';
import { SEARCH_PACE, pauseAfter } from '../domain/search-pace';
import type { Logger } from '../log';
import { Loop } from '../loop';
import { gauge, incrementCounter, measure } from '../metrics/recorder';
import { INDEX } from '../search/settings';
import type { IndexName, SearchWriter, SentOrders } from '../search/writer';

/** Another indexer takes over when the lease has not been renewed for `lasts_ms`. */
const LEASE = { name: 'search indexer', lasts_ms: 5_000, every_ms: 1_000 };

/** The index may be lost while no order changes: it is looked at again after this long. Milliseconds. */
const PREPARES_EVERY_MS = 30_000;

/** Another process writes to the index. */
class LeaseLost extends Error {}

export interface IndexerServices {
  db: Database;
  index: SearchWriter;
  log: Logger;
  /** The build of this process: no work while another one is current. */
  build?: string;
  /** By default as PREPARES_EVERY_MS. */
  prepares_every_ms?: number;
}

/**
 * Writes changes of orders to the search index (rules 20.12). One process at a time does it, by lease, and one batch at
 * a time, so that an older version of an order never overwrites a newer one. Repeat-safe: a change leaves the outbox
 * after the index has it.
 */
export class Indexer {
  private readonly lease: KeptLease;
  private readonly loop = new Loop(() => this.round());
  /** The holder of the lease that has prepared the index. */
  private prepared_by: string | undefined;
  private prepared_at = 0;
  private is_failing = false;
  /** Orders that were written, perhaps after the lease was lost: kept until Postgres has answered. */
  private readonly unconfirmed = new Set<string>();
  /** The duration of the last batch, milliseconds: the next one may take as long. */
  private batch_ms = 0;

  constructor(private readonly services: IndexerServices) {
    this.lease = new KeptLease(services.db, { ...LEASE, build: services.build });
    gauge('payments_lease_holder', () => [{ value: this.lease.holder ? 1 : 0, labels: { lease: 'search_indexer' } }]);
  }

  start(): void {
    this.lease.start();
    this.loop.start();
  }

  /** Starts no new batch, and resolves when the current one is done. */
  async stop(): Promise<void> {
    await this.loop.stop();
    await this.lease.stop();
  }

  private async round(): Promise<number> {
    const started = performance.now();
    try {
      await this.writeAgain();
      const { holder } = this.lease;
      const written = holder === undefined ? 0 : await this.work(holder);
      this.is_failing = false;
      return pauseAfter({ written, batch_ms: this.batch_ms, since_ms: performance.now() - started });
    } catch (error) {
      this.failed(error);
      return SEARCH_PACE.failed_ms;
    }
  }

  /** Rebuilds the index if requested, then writes one batch of changes. Returns how many. */
  private async work(holder: string): Promise<number> {
    const { db, prepares_every_ms = PREPARES_EVERY_MS } = this.services;
    if (this.prepared_by !== holder || performance.now() - this.prepared_at > prepares_every_ms) {
      await this.prepare();
      this.prepared_by = holder;
      this.prepared_at = performance.now();
    }
    if ((await searchRebuild(db)) !== undefined) await this.rebuild(holder);
    return await this.writeChanges(holder, [INDEX], await dueSearchChanges(db, SEARCH_PACE.batch));
  }

  /** Requests a rebuild on a new server, and for an index of an earlier version. */
  private async prepare(): Promise<void> {
    const { db, index, log } = this.services;
    await index.makeKeys();
    const state = await index.state();
    if (state === 'current') return await index.setCutoff();
    log.info({ state }, 'rebuilding the search index');
    await requestSearchRebuild(db, Date.now());
  }

  /** Throws if another process has the lease, or this one is stopping. */
  private requireLease(holder: string): void {
    if (this.loop.isStopping || this.lease.holder !== holder) {
      throw new LeaseLost('another process holds the indexer lease, or this one is stopping');
    }
  }

  /**
   * Writes a batch of changes; returns how many there were. What the last of the indexes refuses is set aside; another
   * one is about to be replaced.
   */
  private async writeChanges(
    holder: string,
    names: readonly IndexName[],
    changes: readonly SearchChange[],
  ): Promise<number> {
    const { db, index } = this.services;
    const began = performance.now();
    if (changes.length === 0) return 0;
    const order_ids = [...new Set(changes.map(({ order_id }) => order_id))];
    const orders = await indexedOrders(db, order_ids);
    this.requireLease(holder);
    let refusals: SearchRefusal[];
    try {
      refusals = (await Promise.all(names.map((name) => index.write(name, orders)))).at(-1) ?? [];
    } finally {
      // Also after a failure: the server may have accepted the orders and carry them out later.
      await this.confirmWritten(holder, order_ids);
    }
    await this.finish(changes, refusals);
    this.batch_ms = performance.now() - began;
    this.measureBatch(changes, refusals.length);
    return changes.length;
  }

  private measureBatch(changes: readonly SearchChange[], refused: number): void {
    const { batch_ms } = this;
    measure('payments_indexer_batch_duration_seconds', {}, batch_ms / 1_000);
    incrementCounter('payments_indexer_orders_total', { result: 'written' }, changes.length - refused);
    incrementCounter('payments_indexer_orders_total', { result: 'refused' }, refused);
    for (const { age_ms } of changes) {
      if (age_ms != null) measure('payments_indexer_delay_seconds', {}, (age_ms + batch_ms) / 1_000);
    }
  }

  private async finish(changes: readonly SearchChange[], refusals: readonly SearchRefusal[]): Promise<void> {
    const { db, log } = this.services;
    for (const refusal of refusals) log.error(refusal, 'the search index refuses an order');
    await finishSearchChanges(db, changes, refusals, Date.now());
  }

  /**
   * A process that was paused between reading and writing may have overwritten newer versions. If it has lost its lease
   * meanwhile, these orders are written again.
   */
  private async confirmWritten(holder: string, order_ids: readonly string[]): Promise<void> {
    for (const order_id of order_ids) this.unconfirmed.add(order_id);
    if (await this.lease.isStillOf(holder)) return this.unconfirmed.clear();
    await this.writeAgain();
    throw new LeaseLost('the lease was lost while orders were written');
  }

  private async writeAgain(): Promise<void> {
    if (this.unconfirmed.size === 0) return;
    await addSearchChanges(this.services.db, [...this.unconfirmed]);
    this.unconfirmed.clear();
  }

  /** A process that takes the lease during a rebuild begins it anew: the request is its own. */
  private async confirmRebuild(holder: string): Promise<void> {
    if (!(await this.lease.isStillOf(holder))) throw new LeaseLost('the lease was lost while the index was rebuilt');
  }

  /**
   * Fills a second index while the first one serves searches, then swaps them. Meanwhile this one writer writes changes
   * to both, so that no newer version is overwritten.
   */
  private async rebuild(holder: string): Promise<void> {
    const { db, index, log } = this.services;
    const isThere = (await index.state()) !== 'missing';
    const sent_max = SEARCH_PACE.rebuild_sent[isThere && (await index.count()) > 0 ? 'answering' : 'empty'];
    const rebuilt = await index.beginRebuild();
    const targets: IndexName[] = isThere ? [INDEX, rebuilt] : [rebuilt];
    const began = Date.now();
    await noteSearchRebuild(db, 0);
    const sent: { order_ids: string[]; orders: SentOrders }[] = [];
    let written = 0;
    const finishOldest = async () => {
      const { order_ids, orders } = sent.shift()!;
      if ((await orders.refused()) !== undefined) {
        // Reads the orders again: one may have changed since, and its change may be written already.
        await this.finish([], await index.write(rebuilt, await indexedOrders(db, order_ids)));
      }
      await this.confirmWritten(holder, order_ids);
      await noteSearchRebuild(db, (written += order_ids.length));
    };
    for await (const order_ids of allOrderIds(db, SEARCH_PACE.rebuild_batch)) {
      await this.writeChanges(holder, targets, await searchChanges(db, SEARCH_PACE.batch));
      const orders = await indexedOrders(db, order_ids);
      this.requireLease(holder);
      sent.push({ order_ids, orders: await index.send(rebuilt, orders) });
      if (sent.length === sent_max) await finishOldest();
    }
    while (sent.length > 0) await finishOldest();
    // Changes that came while the last batch was written.
    while (
      (await this.writeChanges(holder, targets, await searchChanges(db, SEARCH_PACE.batch))) === SEARCH_PACE.batch
    );
    const replaces = (await index.state()) !== 'missing';
    this.requireLease(holder);
    await this.confirmRebuild(holder);
    try {
      await index.swapRebuilt(rebuilt, { replaces });
    } finally {
      // The swap fails when another process has begun the rebuild anew meanwhile.
      await this.confirmRebuild(holder);
    }
    if (replaces) await index.removeReplaced(rebuilt);
    await this.confirmRebuild(holder);
    await endSearchRebuild(db, began);
    log.info({ orders: written }, 'rebuilt the search index');
  }

  /** Logs only the first of several failures in a row. */
  private failed(error: unknown): void {
    // The server may have lost the index.
    this.prepared_by = undefined;
    if (error instanceof LeaseLost || this.loop.isStopping) return;
    incrementCounter('payments_indexer_failures_total', {});
    if (!this.is_failing) this.services.log.warn({ err: error }, 'cannot write to the search index; retrying');
    this.is_failing = true;
  }
}
