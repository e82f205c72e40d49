import type { OrderRecord } from '../domain/order-record';
import type { TimelineAttempt, TimelineClockMove } from '../domain/timeline';
import type { LateApprovalWatch } from '../domain/waits';
import { queryRows, type Database } from './connection';
import { openDeliveriesOf, type OpenDelivery } from './deliveries';
import { watchesOf } from './late-approvals';
import { findOrder } from './order-record';
import { findOrderViews, type OrderView } from './order-view';
import { clockMoves } from './sandbox-clocks';

/** The record that a timeline is made from, beside the order itself. */
export interface TimelineRecord {
  /** Oldest first. */
  follow_ups: OrderView[];
  /** Attempts of the webhooks of all of them. */
  attempts: TimelineAttempt[];
  clock_moves: TimelineClockMove[];
  /** The order and its follow-up orders, webhooks and watches that still wait. */
  orders: OrderRecord[];
  deliveries: OpenDelivery[];
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
    openDeliveriesOf(db, order_ids),
    watchesOf(db, order_ids),
    Promise.all(order_ids.map((id) => findOrder(db, id))),
    clockMoves(db, order.clock_id),
  ]);
  return {
    follow_ups: order.follow_ups.flatMap(({ id }) => views.filter((view) => view.id === id)),
    attempts,
    clock_moves,
    orders: orders.filter((one) => one !== undefined),
    deliveries,
    watches,
  };
}
