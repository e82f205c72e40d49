import type { Database } from '../../src/db/query';
import { findChangedOrders, type KnownOrder } from '../../src/db/orders/changed-orders';
import type { StoredOrder } from '../../src/db/orders/stored-order';
import { ORDER_MOVES, isFinal } from '../../src/domain/transitions';
import type { Logger } from '../../src/log';
import type { WaitPreference } from '../operation';
import { WaitingRequests, type WaitingPlaces } from './waiting-requests';

/** What is read of an order that a request waits for. */
type WaitedFor = Pick<StoredOrder, 'id' | 'project_id' | 'status' | 'version'>;

/** The requests of this process that wait until the status of their order changes (rules 5.12). */
export class OrderWaits {
  private readonly waits: WaitingRequests<KnownOrder>;

  constructor(db: Database, log: Logger, places: WaitingPlaces) {
    this.waits = new WaitingRequests('orders', (known) => findChanged(db, known), log, places);
  }

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
    const changed = this.waits.begin(project_id, { id, status }, wait);
    return changed === undefined ? { order } : { wait: changed };
  }

  /** Ends all waits, and lets no further one begin. */
  async close(): Promise<void> {
    await this.waits.close();
  }
}

async function findChanged(db: Database, known: readonly KnownOrder[]): Promise<readonly KnownOrder[]> {
  const changed = await findChangedOrders(db, known);
  if (changed.length === 0) return [];
  const statuses = new Map(changed.map(({ id, status }) => [id, status]));
  return known.filter(({ id, status }) => (statuses.get(id) ?? status) !== status);
}
