import type { OrderSnapshot } from '../../domain/order-snapshot';
import type { PaymentLinkSnapshot } from '../../domain/payment-link';
import { OPEN_ORDER_STATUSES } from '../../domain/transitions';
import type { LateApprovalWatch } from '../../domain/waits';
import { queryRow, queryRows, type Database } from '../query';
import { openDeliveriesOf, type OpenDelivery } from '../webhooks/deliveries';
import { findFollowUps, type RecordedFollowUp } from '../orders/follow-ups';
import { watchesOf } from '../orders/late-approvals';
import { findOrderSnapshots } from '../orders/order-snapshot';
import { findPaymentLinkSnapshot } from '../payment-links';
import { ordersOfClock } from './sandbox-clocks';
import { RESERVED } from '../orders/transactions';

/** All objects that use a clock and still wait. */
export interface ClockWaits {
  offset_ms: number;
  payment_link: PaymentLinkSnapshot | undefined;
  /** Payment orders. */
  orders: OrderSnapshot[];
  follow_ups: (RecordedFollowUp & { order: OrderSnapshot })[];
  deliveries: OpenDelivery[];
  watches: LateApprovalWatch[];
}

/**
 * The waits of a clock in one snapshot, so that a change of an object is seen together with its consequences, such as a
 * webhook.
 */
export async function findClockWaits(db: Database, clock_id: string): Promise<ClockWaits> {
  return await db.transaction((trx) => readClockWaits(trx, clock_id), {
    isolationLevel: 'repeatable read',
    readOnly: true,
  });
}

async function readClockWaits(db: Database, clock_id: string): Promise<ClockWaits> {
  const clock = await queryRow<{ offset_ms: number }>(db, 'select offset_ms from sandbox_clocks where id = :clock_id', {
    clock_id,
  });
  // Orders that are final wait for nothing, except to capture or release money.
  const using = await queryRows<{ id: string; kind: string; is_open: boolean }>(
    db,
    `select o.id, o.kind, o.status = any(:open::text[]) or o.kind = 'payment' and exists (
         select 1 from transactions t where t.order_id = o.id and ${RESERVED}) as is_open
     from orders o where o.id in ${ordersOfClock(':clock_id')} order by o.created, o.id`,
    { clock_id, open: OPEN_ORDER_STATUSES },
  );
  const orders = { sql: `select id from ${ordersOfClock(':clock_id')} of_clock`, bindings: { clock_id } };
  const open = using.filter(({ is_open }) => is_open);
  const found = await findOrderSnapshots(
    db,
    open.map(({ id }) => id),
  );
  const records = open.flatMap(({ id }) => found.get(id) ?? []);
  const inputs = await findFollowUps(
    db,
    open.filter(({ kind }) => kind !== 'payment').map(({ id }) => id),
  );
  return {
    offset_ms: clock?.offset_ms ?? 0,
    payment_link: await findPaymentLinkSnapshot(db, clock_id),
    orders: records.filter(({ charged_by }) => charged_by !== null),
    follow_ups: inputs.flatMap((input) => {
      const order = records.find(({ id }) => id === input.id);
      return order === undefined ? [] : [{ ...input, order }];
    }),
    deliveries: await openDeliveriesOf(db, orders),
    watches: await watchesOf(db, orders),
  };
}
