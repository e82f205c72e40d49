import type { OrderSnapshot } from '../../domain/order-snapshot';
import type { TimelineAttempt, TimelineClockAdvance, TimelinePlace } from '../../domain/timeline';
import { OPEN_ORDER_STATUSES } from '../../domain/transitions';
import type { LateApprovalWatch } from '../../domain/waits';
import { toIsoTime } from '../../time';
import { queryRows, type Database } from '../query';
import { openDeliveriesOf, type OpenDelivery } from '../webhooks/deliveries';
import { watchesOf } from './late-approvals';
import { findOrderSnapshots } from './order-snapshot';
import { findStoredOrders, type StoredOrder } from './stored-order';

/** The requested part of a timeline: the first `limit` entries, or those from a position on. */
export interface TimelinePageRequest {
  limit: number;
  from: TimelinePlace;
  /** The largest number of follow-up orders and webhooks whose waits are listed. */
  waits_max: number;
}

/** The rows for a page of a timeline, besides the order itself. They may hold more than the page. */
export interface StoredTimeline {
  /** Oldest first. */
  follow_ups: StoredOrder[];
  /** Attempts of the webhooks of all of them. */
  attempts: TimelineAttempt[];
  clock_advances: TimelineClockAdvance[];
  /** The order and its follow-up orders, for their waits. */
  orders: OrderSnapshot[];
  deliveries: OpenDelivery[];
  watches: LateApprovalWatch[];
}

/** The first rows by time, including all of the last millisecond: the times of entries are whole milliseconds. */
const firstBy = (column: string) => `order by date_trunc('milliseconds', ${column}) fetch first :rows rows with ties`;

/** The follow-up orders of an order with an event among the first rows. */
const FOLLOW_UPS = `
  select distinct order_id from (
    select order_id from (
      select f.id as order_id, f.created as at from orders f where f.related_order_id = :id
      union all select f.id, t.polled_at
        from orders f join transactions t on t.order_id = f.id where f.related_order_id = :id
      union all select f.id, e.noticed
        from orders f join transactions t on t.order_id = f.id join transaction_events e on e.transaction_id = t.id
        where f.related_order_id = :id
    ) happened where at >= :since ${firstBy('at')}
  ) first`;

/** The order and its follow-up orders. */
const ORDERS = 'select id from orders where id = :id or related_order_id = :id';

const ATTEMPTS = `
  select order_id, n, attempt, started, status_code, failure from (
    select * from webhook_attempts
    where order_id in (${ORDERS}) and started >= :since
    ${firstBy('started')}
  ) first order by started, attempt, order_id, n`;

const CLOCK_ADVANCES = `
  select from_offset_ms, to_offset_ms, started from sandbox_clock_advances
  where clock_id = :clock_id and started >= :since ${firstBy('started')}`;

/** Reads the rows for one page of an order's timeline. */
export async function findTimeline(
  db: Database,
  order: StoredOrder,
  { limit, from, waits_max }: TimelinePageRequest,
): Promise<StoredTimeline> {
  const { id, clock_id } = order;
  // One more than the page, to know whether there is a next one.
  const page = { since: toIsoTime(from.at), rows: limit + from.skip + 1 };
  const waiting = order.follow_ups.filter(({ status }) => OPEN_ORDER_STATUSES.includes(status)).slice(0, waits_max);
  const follow_up_ids = await queryRows<{ order_id: string }>(db, FOLLOW_UPS, { id, ...page });
  const attempts = await queryRows<TimelineAttempt>(db, ATTEMPTS, { id, ...page });
  const clock_advances = await queryRows<TimelineClockAdvance>(db, CLOCK_ADVANCES, { clock_id, ...page });
  const deliveries = await openDeliveriesOf(db, { sql: ORDERS, bindings: { id } }, waits_max);
  const watches = await watchesOf(db, { sql: ORDERS, bindings: { id } });
  const open_ids = [id, ...waiting.map((one) => one.id)];
  const orders = await findOrderSnapshots(db, open_ids);
  const happened = new Set(follow_up_ids.map(({ order_id }) => order_id));
  const in_order = order.follow_ups.filter((one) => happened.has(one.id)).map((one) => one.id);
  const views = new Map(
    (await findStoredOrders(db, order.project_id, in_order)).map((view): [string, StoredOrder] => [view.id, view]),
  );
  return {
    follow_ups: in_order.flatMap((one) => views.get(one) ?? []),
    attempts,
    clock_advances,
    orders: open_ids.flatMap((one) => orders.get(one) ?? []),
    deliveries,
    watches,
  };
}
