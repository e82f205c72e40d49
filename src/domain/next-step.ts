import { isWindowClosed, openAuthorization } from './authorization';
import { outcomeAwaitedFrom, shouldExpire, type OrderSnapshot } from './order-snapshot';
import { ORDER_MOVES, isFinal } from './transitions';

/** The next step of an order's workflow. */
export type Step =
  /** Status changes have webhooks whose delivery has not started. */
  | 'startDeliveries'
  /** The processor may still approve a transaction that has ended: its reversal's workflow has not started. */
  | 'startReversals'
  /** Money is reserved: it is held until its capture window ends, then captured or released. */
  | 'holdAuthorization'
  /** The time for paying is over. */
  | 'expire'
  /** The outcome of a charge must be polled at the processor. */
  | 'pollOutcome'
  /** The customer must pay. */
  | 'awaitPayment'
  /** The order is finished. */
  | 'finish';

/** The next step for an order; `now` in epoch milliseconds. */
export function nextStep(order: OrderSnapshot, now: number): Step {
  if (order.deliveries.length > 0) return 'startDeliveries';
  if (order.transactions.some(({ late_poll_at }) => late_poll_at !== undefined)) return 'startReversals';
  if (isFinal(ORDER_MOVES, order.status)) {
    const authorization = openAuthorization(order);
    return authorization === undefined || isWindowClosed(authorization, now) ? 'finish' : 'holdAuthorization';
  }
  if (shouldExpire(order, now)) return 'expire';
  return outcomeAwaitedFrom(order) === undefined ? 'awaitPayment' : 'pollOutcome';
}
