import { isClosed, openAuthorization } from './authorization';
import { shouldExpire, isOutcomeOpen, type OrderRecord } from './order-record';
import { ORDER_MOVES, isFinal } from './transitions';

/** What an order needs from its workflow, one thing at a time. */
export type Step =
  /** Webhooks of status changes have to be started. */
  | 'deliver'
  /** Money is reserved: it is kept until its window ends, then captured or released. */
  | 'keep'
  /** The time for paying is over. */
  | 'end'
  /** The processor has to be asked what became of a charge. */
  | 'ask'
  /** The customer has to pay. */
  | 'wait'
  /** Nothing is left to do. */
  | 'leave';

/** What is done next for an order; `now` in epoch milliseconds. */
export function nextStep(order: OrderRecord, now: number): Step {
  if (order.deliveries.length > 0) return 'deliver';
  if (isFinal(ORDER_MOVES, order.status)) {
    const authorization = openAuthorization(order);
    return authorization === undefined || isClosed(authorization, now) ? 'leave' : 'keep';
  }
  if (shouldExpire(order, now)) return 'end';
  return isOutcomeOpen(order) ? 'ask' : 'wait';
}
