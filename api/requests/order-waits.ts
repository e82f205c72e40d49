import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/db/connection';
import { findChangedOrders, type KnownOrder } from '../../src/db/orders/changed-orders';
import type { StoredOrder } from '../../src/db/orders/stored-order';
import { ORDER_MOVES, isFinal } from '../../src/domain/transitions';
import type { Logger } from '../../src/log';
import type { WaitPreference } from '../operation';

/** How many requests of a project, and of all, wait in one api process (rules 18.10). */
export const WAITING_MAX = { per_project: 100, all: 2_000 };
/**
 * From one look at the waiting orders to the next, in milliseconds; after one that failed. A request learns of a change
 * within this time and that of a look, which with a thousand orders takes a few milliseconds.
 */
const PAUSE_MS = { next: 25, failed: 500 };

/** What is read of an order that a request waits for. */
type WaitedFor = Pick<StoredOrder, 'id' | 'project_id' | 'status' | 'version'>;

interface Waiting extends KnownOrder {
  /** Ends the wait. */
  end: () => void;
}

/**
 * The requests of this process that wait until the status of their order changes (rules 5.12). While there are any, one
 * statement looks at all their orders at a time. Nothing is done for orders that no request waits for: a NOTIFY with
 * each move would have Postgres commit the moves one after another. It needs no connection of its own, and what it
 * misses while Postgres does not answer it sees afterwards.
 */
export class OrderWaits {
  private readonly waiting = new Set<Waiting>();
  private readonly of_projects = new Map<string, number>();
  private looking: Promise<void> | undefined;
  private is_closed = false;

  constructor(
    private readonly db: Database,
    private readonly log: Logger,
  ) {}

  /**
   * Reads the order; if the request prefers to wait, and the order may still change, waits until its status does, then
   * reads it again. It does not wait when too many requests do.
   */
  async read<Order extends WaitedFor>(wait: WaitPreference | undefined, find: () => Promise<Order>): Promise<Order> {
    if (wait === undefined) return await find();
    const begun = await this.begin(wait, find);
    if ('order' in begun) return begun.order;
    await begun.wait;
    return await find();
  }

  /** The order, or the wait for its change. The order is not kept during the wait. */
  private async begin<Order extends WaitedFor>(
    wait: WaitPreference,
    find: () => Promise<Order>,
  ): Promise<{ order: Order } | { wait: Promise<void> }> {
    const order = await find();
    const { id, project_id, status, version } = order;
    if (isFinal(ORDER_MOVES, status) || wait.isOutdated(version)) {
      wait.apply();
      return { order };
    }
    const count = this.of_projects.get(project_id) ?? 0;
    const has_place = count < WAITING_MAX.per_project && this.waiting.size < WAITING_MAX.all;
    if (this.is_closed || !has_place) return { order };
    this.of_projects.set(project_id, count + 1);
    wait.apply();
    const ended = wait.begin();
    const changed = this.changeOf({ id, status }, wait).finally(() => {
      ended();
      this.leave(project_id);
    });
    return { wait: changed };
  }

  /** Ends all waits, and lets no further one begin. */
  async close(): Promise<void> {
    this.is_closed = true;
    for (const { end } of this.waiting) end();
    await this.looking;
  }

  private async changeOf(order: KnownOrder, wait: WaitPreference): Promise<void> {
    await new Promise<void>((resolve) => {
      const end = () => {
        this.waiting.delete(waiting);
        clearTimeout(timer);
        stopWatching();
        resolve();
      };
      const waiting: Waiting = { ...order, end };
      const timer = setTimeout(end, wait.until - Date.now());
      const stopWatching = wait.onLeave(end);
      this.waiting.add(waiting);
      if (wait.hasLeft()) end();
      else this.looking ??= this.look();
    });
  }

  private leave(project_id: string): void {
    const left = (this.of_projects.get(project_id) ?? 0) - 1;
    if (left > 0) this.of_projects.set(project_id, left);
    else this.of_projects.delete(project_id);
  }

  /** Looks at the waiting orders for as long as there are any. Never rejects. */
  private async look(): Promise<void> {
    let has_failed = false;
    while (this.waiting.size > 0) {
      await sleep(has_failed ? PAUSE_MS.failed : PAUSE_MS.next);
      if (this.waiting.size === 0) break;
      try {
        this.endChanged(await findChangedOrders(this.db, [...this.waiting]));
        has_failed = false;
      } catch (error) {
        if (!has_failed) this.log.warn({ err: error }, 'cannot read the orders that requests wait for');
        has_failed = true;
      }
    }
    this.looking = undefined;
  }

  private endChanged(changed: readonly KnownOrder[]): void {
    if (changed.length === 0) return;
    const statuses = new Map(changed.map(({ id, status }) => [id, status]));
    for (const { id, status, end } of this.waiting) {
      if ((statuses.get(id) ?? status) !== status) end();
    }
  }
}
