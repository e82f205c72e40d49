import { ServiceError } from '../errors';
import {
  ORDER_MOVES,
  OPEN_ATTEMPT_STATUSES,
  canMove,
  isFinal,
  type OrderStatus,
  type TransactionStatus,
} from './transitions';

/** Most payment attempts of one order on the hosted page; with a card token there is only one (rules 6.3). */
export const ATTEMPTS_MAX = 5;

/**
 * Who pays an order: the service at once, with the card token that came with it, or the customer on the hosted page.
 */
export type ChargedBy = 'token' | 'customer';

/** How an unpaid order ended, unless its transactions ended it. */
export type Ending = 'cancelled' | 'expired';

/** Whether a status of an order or transaction is an ending: final and unpaid. */
export function isEnding(status: OrderStatus | TransactionStatus | undefined): status is Ending {
  return status === 'cancelled' || status === 'expired';
}

/** The facts that an order's status is computed from. */
export interface OrderFacts {
  /** Statuses of the payment transactions, oldest first. */
  transactions: readonly TransactionStatus[];
  /** A transaction was accepted once, even if voided or lapsed since. */
  was_accepted: boolean;
  /** Attempts the order may have: 1 with a card token in the request, else ATTEMPTS_MAX. */
  attempts_max: number;
  /** Set when the customer or merchant cancels the order, or its time runs out. */
  ended?: Ending;
}

/** The status of an order, computed from its transactions and never assigned: the first rule that fits (rules 4.4). */
export function orderStatus({ transactions, was_accepted, attempts_max, ended }: OrderFacts): OrderStatus {
  const last = transactions.at(-1);
  const hasError = transactions.includes('error');
  if (was_accepted || last === 'accepted') return 'completed';
  if (last === 'processing') return hasError ? 'see-transactions' : 'processing';
  if (last === 'error' && transactions.length >= attempts_max && ended === undefined) return 'error';
  if (ended === 'cancelled' || last === 'cancelled') return 'cancelled';
  if (ended === 'expired' || last === 'expired') return 'expired';
  if (last === 'pending') return hasError ? 'see-transactions' : 'processing';
  if (hasError) return 'processing';
  return 'new';
}

/** Whether `now` has reached expires_at, both in epoch milliseconds; it is expired at expires_at itself. */
export function isExpired(expires_at: number, now: number): boolean {
  return now >= expires_at;
}

/**
 * When an unpaid transaction expires: after its own period, never after its order (rules 7.3).
 * Epoch milliseconds; periods in milliseconds.
 */
export function transactionExpiresAt(facts: { order_expires_at: number; created: number; period: number }): number {
  return Math.min(facts.order_expires_at, facts.created + facts.period);
}

/** Why a payment attempt may not start now. */
export type PaymentObstacle = 'already_started' | 'no_attempt_left' | 'ended';

/**
 * Why the attempt with this number may not start; `undefined` when it may: the next one after a declined attempt, or
 * one that exists and was not begun (rules 6.3). `attempt` counts from 1; `expires_at` and `now` in epoch milliseconds.
 */
export function paymentObstacle(
  facts: OrderFacts & { expires_at: number; now: number; attempt: number },
): PaymentObstacle | undefined {
  const { transactions, attempt } = facts;
  if (facts.ended !== undefined || isExpired(facts.expires_at, facts.now)) return 'ended';
  if (facts.was_accepted) return 'already_started';
  if (attempt > facts.attempts_max) return 'no_attempt_left';
  const current = transactions[attempt - 1];
  if (current !== undefined) {
    return current === 'new' && attempt === transactions.length ? undefined : 'already_started';
  }
  const last = transactions.at(-1);
  const nextInLine = attempt === transactions.length + 1;
  return nextInLine && (last === undefined || last === 'error') ? undefined : 'already_started';
}

/** Whether an order may be cancelled: not while its last transaction waits for the outcome (rules 5.7). */
export function mayCancel(order: OrderStatus, last: TransactionStatus | undefined): boolean {
  return canMove(ORDER_MOVES, order, 'cancelled') && last !== 'processing';
}

/** The refusal of a cancellation of an order with this status. */
export function canNotCancel(status: OrderStatus): ServiceError {
  const awaited = isFinal(ORDER_MOVES, status) ? '' : ' while the outcome of its payment is awaited';
  return new ServiceError('CanNotCancelTransaction', `The order is ${status} and cannot be cancelled${awaited}.`);
}

/** Whether a transaction may still be paid, or its outcome is awaited. */
export function isAttemptOpen(status: TransactionStatus): boolean {
  return OPEN_ATTEMPT_STATUSES.includes(status);
}
