import { movesReservedMoney } from '../src/domain/follow-up';
import type { OrderSnapshot } from '../src/domain/order-snapshot';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import type { FollowUpInput } from '../workflows/messages';
import type { WorkflowsOf } from './services';

/** Signals the payment's workflow that a capture or void has its outcome; the workflow reads the record. */
export async function signalPayment(
  { workflows }: WorkflowsOf<'orders'>,
  { kind, original_order_id }: FollowUpInput,
): Promise<void> {
  if (movesReservedMoney(kind)) await workflows.orders.recordChanged(original_order_id);
}

/**
 * Signals the workflow of the order's payment link, if it has one; the workflow reads the record (rules 19.6). The SQL
 * that wrote or moved the order has moved the link already, so a repeated signal does no harm. Returns the order.
 */
export async function signalPaymentLink(
  { workflows }: WorkflowsOf<'payment_links'>,
  order: OrderSnapshot,
): Promise<OrderSnapshot> {
  if (order.payment_link !== undefined) await workflows.payment_links.recordChanged(order.payment_link.id);
  return order;
}

/** Like signalPaymentLink, after an activity that may have ended the order; otherwise the link has not changed. */
export async function signalLinkOfEndedOrder(
  services: WorkflowsOf<'payment_links'>,
  order: OrderSnapshot,
): Promise<OrderSnapshot> {
  return isFinal(ORDER_MOVES, order.status) ? await signalPaymentLink(services, order) : order;
}
