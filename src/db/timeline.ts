import type { DeliveryId, DeliveryProgress } from '../domain/delivery';
import type { OrderRecord } from '../domain/order-record';
import type { TimelineAttempt, TimelineClockMove } from '../domain/timeline';
import type { LateApprovalWatch } from '../domain/waits';
import { queryRows, type Database } from './connection';
import { findOrder } from './order-record';
import { findOrderViews, type OrderView } from './order-view';
import { clockMoves } from './sandbox-clocks';

/** What the timeline of an order is made from, beside the order itself. */
export interface TimelineRecord {
  /** Oldest first. */
  follow_ups: OrderView[];
  /** Attempts of the webhooks of all of them. */
  attempts: TimelineAttempt[];
  clock_moves: TimelineClockMove[];
  /** The order and its follow-up orders, webhooks and watches that still wait. */
  orders: OrderRecord[];
  deliveries: (DeliveryId & DeliveryProgress)[];
  watches: LateApprovalWatch[];
}

export async function findTimeline(db: Database, order: OrderView): Promise<TimelineRecord> {
  const order_ids = [order.id, ...order.follow_ups.map(({ id }) => id)];
  const [views, attempts, deliveries, watches, orders, clock_moves] = await Promise.all([
    findOrderViews(db, order.project_id, order_ids.slice(1)),
    queryRows<TimelineAttempt>(
      db,
      `select order_id, n, attempt, started, status_code, failure from webhook_attempts
       where order_id = any(:order_ids::uuid[]) order by started, attempt`,
      { order_ids },
    ),
    queryRows<DeliveryId & Pick<DeliveryProgress, 'status' | 'attempts'> & { next_attempt_at: string }>(
      db,
      `select d.order_id, d.n, d.status, d.next_attempt_at,
         (select count(*)::int from webhook_attempts a where a.order_id = d.order_id and a.n = d.n) as attempts
       from webhook_deliveries d where d.order_id = any(:order_ids::uuid[]) and d.status in ('new', 'paused')`,
      { order_ids },
    ),
    queryRows<{ transaction_id: string; poll_at: string }>(
      db,
      `select w.transaction_id, w.poll_at from late_approval_watches w join transactions t on t.id = w.transaction_id
       where t.order_id = any(:order_ids::uuid[])`,
      { order_ids },
    ),
    Promise.all(order_ids.map((id) => findOrder(db, id))),
    clockMoves(db, order.clock_id),
  ]);
  return {
    follow_ups: order.follow_ups.flatMap(({ id }) => views.filter((view) => view.id === id)),
    attempts,
    clock_moves,
    orders: orders.filter((one) => one !== undefined),
    deliveries: deliveries.map(({ next_attempt_at, ...delivery }) => ({
      ...delivery,
      next_attempt_at: Date.parse(next_attempt_at),
      clock_offset_ms: order.clock_offset_ms,
      is_slow: false,
    })),
    watches: watches.map(({ transaction_id, poll_at }) => ({ transaction_id, poll_at: Date.parse(poll_at) })),
  };
}
