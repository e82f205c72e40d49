import { movesReservedMoney } from '../src/domain/follow-up';
import type { OrderSnapshot } from '../src/domain/order-snapshot';
import { ORDER_MOVES, isFinal } from '../src/domain/transitions';
import type { FollowUpInput } from '../workflows/messages';
import type { ActivityServices } from './services';

/** Signals the payment's workflow that a capture or void has its outcome; the workflow reads the record. */
export async function signalPayment(
  { workflows }: ActivityServices,
  { kind, original_order_id }: FollowUpInput,
): Promise<void> {
  if (movesReservedMoney(kind)) await workflows.orders.recordChanged(original_order_id);
}

/**
 * Signals the workflow of the order's payment link after an activity that may have ended the order; the workflow reads
 * the record (rules 19.6). The SQL of the order's move has moved the link already, so a repeated signal does no harm.
 * Returns the order.
 */
export async function signalPaymentLink({ workflows }: ActivityServices, order: OrderSnapshot): Promise<OrderSnapshot> {
  const { payment_link, status } = order;
  if (payment_link !== undefined && isFinal(ORDER_MOVES, status)) {
    await workflows.payment_links.recordChanged(payment_link.id);
  }
  return order;
}
