import type { DeliveryId } from '../domain/delivery';
import { OPEN_ORDER_STATUSES } from '../domain/transitions';
import { iso, rows, type Database } from './connection';
import { FOLLOW_UP, type OpenFollowUp } from './follow-ups';

/** A period of last changes, in epoch milliseconds; `before` is excluded. */
interface Touched {
  since: number;
  before: number;
}

/** Rows per round. */
export const LIMIT = 5_000;
/** Windows that ended longer ago are not looked at: they last five days at most and are closed at their end. */
const WINDOW_AGE_MS = 30 * 24 * 60 * 60 * 1_000;

const instants = ({ since, before }: Touched) => ({
  since: iso(since),
  before: iso(before),
  open: OPEN_ORDER_STATUSES,
  limit: LIMIT,
});

/** Follow-up orders that are not final. Those of the processor are final as soon as they are written. */
export async function unfinishedFollowUps(db: Database, before: number): Promise<OpenFollowUp[]> {
  return await rows<OpenFollowUp>(
    db,
    `${FOLLOW_UP}
     where f.status = any(:open::text[]) and f.modified < :before and f.kind <> 'payment' and f.requested_by <> 'processor' and t.original_transaction_id is not null
     order by f.modified limit :limit`,
    instants({ since: 0, before }),
  );
}

/**
 * Payment orders that need their workflow: in the period an attempt began, money was reserved, the time for paying or capturing ended,
 * or the outcome of a charge stayed out for another hour. While an order only waits to be paid, its workflow can have missed nothing.
 * Oldest first.
 */
export async function unfinishedOrders(
  db: Database,
  touched: Touched,
): Promise<{ order_id: string; project_id: string; touched: string }[]> {
  return await rows(
    db,
    `with authorized as (
       select o.id, o.project_id, o.modified, t.capture_ends_at as ends from transactions t join orders o on o.id = t.order_id
       where t.capture_mode is not null and t.status = 'accepted' and t.capture_ends_at > :oldest and t.captured_amount + t.voided_amount < t.amount
     ), awaited as (
       select id, project_id, modified + floor(extract(epoch from :before::timestamptz - modified) / 3600) * interval '1 hour' as hour_full from orders o
       where status = any(:open::text[]) and kind = 'payment' and modified < :before
         and exists (select 1 from transactions t where t.order_id = o.id and t.status = 'processing')
     ), found as (
       select id, project_id, modified as touched from orders o
       where status = any(:open::text[]) and kind = 'payment' and modified >= :since and modified < :before
         and exists (select 1 from transactions t where t.order_id = o.id and (t.status <> 'new' or o.charged_by = 'token'))
       union select id, project_id, expires_at from orders
       where status = any(:open::text[]) and kind = 'payment' and expires_at >= :since and expires_at < :before
       union select id, project_id, hour_full from awaited where hour_full >= :since and hour_full < :before
       union select id, project_id, modified from authorized where modified >= :since and modified < :before
       union select id, project_id, ends from authorized where ends >= :since and ends < :before
     )
     select id as order_id, project_id, max(touched) as touched from found
     group by id, project_id order by touched limit :limit`,
    { ...instants(touched), oldest: new Date(touched.before - WINDOW_AGE_MS).toISOString() },
  );
}

/** Webhooks whose next attempt has been due since before that instant. Longest overdue first. */
export async function overdueDeliveries(
  db: Database,
  before: number,
): Promise<(DeliveryId & { project_id: string })[]> {
  return await rows(
    db,
    `select d.order_id, d.n, o.project_id from webhook_deliveries d join orders o on o.id = d.order_id
     where d.status = 'new' and d.next_attempt_at < :before
     order by d.next_attempt_at limit :limit`,
    { before: iso(before), limit: LIMIT },
  );
}
