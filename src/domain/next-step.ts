import { isWindowClosed, openAuthorization } from './authorization';
import { outcomeAwaitedFrom, shouldExpire, type OrderRecord } from './order-record';
import { ORDER_MOVES, isFinal } from './transitions';

/** The next thing that an order needs from its workflow. */
export type Step =
  /** Status changes have webhooks whose delivery has not started. */
  | 'startDeliveries'
  /** The processor may still approve a transaction that has ended: its reversal's workflow has not started. */
  | 'startReversals'
  /** Money is reserved: it is held until its capture window ends, then captured or released. */
  | 'holdAuthorization'
  /** The time for paying is over. */
  | 'expire'
  /** The processor has to be asked for the outcome of a charge. */
  | 'pollOutcome'
  /** The customer has to pay. */
  | 'awaitPayment'
  /** Nothing is left to do. */
  | 'finish';

/** The next step for an order; `now` in epoch milliseconds. */
export function nextStep(order: OrderRecord, now: number): Step {
  if (order.deliveries.length > 0) return 'startDeliveries';
  if (order.transactions.some(({ late_poll_at }) => late_poll_at !== undefined)) return 'startReversals';
  if (isFinal(ORDER_MOVES, order.status)) {
    const authorization = openAuthorization(order);
    return authorization === undefined || isWindowClosed(authorization, now) ? 'finish' : 'holdAuthorization';
  }
  if (shouldExpire(order, now)) return 'expire';
  return outcomeAwaitedFrom(order) === undefined ? 'awaitPayment' : 'pollOutcome';
}
