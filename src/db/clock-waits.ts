import type { DeliveryId, DeliveryProgress } from '../domain/delivery';
import type { OrderRecord } from '../domain/order-record';
import type { PaymentLinkRecord } from '../domain/payment-link';
import type { LateApprovalWatch } from '../domain/waits';
import { queryRows, type Database } from './connection';
import { openFollowUpsOf, type OpenFollowUp } from './follow-ups';
import { findOrder } from './order-record';
import { findPaymentLink } from './payment-links';
import { ordersOfClock } from './sandbox-clocks';

/** Everything that uses a clock and still waits for something. */
export interface ClockWaits {
  offset_ms: number;
  payment_link: PaymentLinkRecord | undefined;
  /** Payment orders. */
  orders: OrderRecord[];
  follow_ups: (OpenFollowUp & { order: OrderRecord })[];
  deliveries: (DeliveryId & DeliveryProgress & { project_id: string })[];
  watches: LateApprovalWatch[];
}

/**
 * What still waits by a clock, at one instant: what one object has done and what follows from it, such as the webhook
 * of a move, are seen together.
 */
export async function findClockWaits(db: Database, clock_id: string): Promise<ClockWaits> {
  return await db.transaction((trx) => readClockWaits(trx, clock_id), {
    isolationLevel: 'repeatable read',
    readOnly: true,
  });
}

async function readClockWaits(db: Database, clock_id: string): Promise<ClockWaits> {
  const [clock] = await queryRows<{ offset_ms: number }>(
    db,
    'select offset_ms from sandbox_clocks where id = :clock_id',
    {
      clock_id,
    },
  );
  // Orders that are final wait for nothing, except to capture or release money.
  const open = await queryRows<{ id: string; kind: string }>(
    db,
    `select o.id, o.kind from orders o where o.id in ${ordersOfClock(':clock_id')} and (
       o.status in ('new', 'processing', 'see-transactions')
       or o.kind = 'payment' and exists (
         select 1 from transactions t where t.order_id = o.id and t.capture_mode is not null and t.status = 'accepted'
           and t.captured_amount + t.voided_amount < t.amount)
     ) order by o.created, o.id`,
    { clock_id },
  );
  const deliveries = await queryRows<
    DeliveryId & Pick<DeliveryProgress, 'status' | 'attempts'> & { project_id: string; next_attempt_at: string }
  >(
    db,
    `select d.order_id, d.n, d.status, d.next_attempt_at, o.project_id,
       (select count(*)::int from webhook_attempts a where a.order_id = d.order_id and a.n = d.n) as attempts
     from webhook_deliveries d join orders o on o.id = d.order_id
     where d.order_id in ${ordersOfClock(':clock_id')} and d.status = 'new' order by d.next_attempt_at`,
    { clock_id },
  );
  const watches = await queryRows<{ transaction_id: string; poll_at: string }>(
    db,
    `select w.transaction_id, w.poll_at from late_approval_watches w join transactions t on t.id = w.transaction_id
     where t.order_id in ${ordersOfClock(':clock_id')}`,
    { clock_id },
  );
  const records = (await Promise.all(open.map(({ id }) => findOrder(db, id)))).filter((one) => one !== undefined);
  const inputs = await openFollowUpsOf(
    db,
    open.filter(({ kind }) => kind !== 'payment').map(({ id }) => id),
  );
  return {
    offset_ms: clock?.offset_ms ?? 0,
    payment_link: await findPaymentLink(db, clock_id),
    orders: records.filter(({ charged_by }) => charged_by !== null),
    follow_ups: inputs.flatMap((input) => {
      const order = records.find(({ id }) => id === input.id);
      return order === undefined ? [] : [{ ...input, order }];
    }),
    deliveries: deliveries.map(({ next_attempt_at, ...delivery }) => ({
      ...delivery,
      next_attempt_at: Date.parse(next_attempt_at),
      clock_offset_ms: clock?.offset_ms ?? 0,
      is_slow: false,
    })),
    watches: watches.map(({ transaction_id, poll_at }) => ({ transaction_id, poll_at: Date.parse(poll_at) })),
  };
}
