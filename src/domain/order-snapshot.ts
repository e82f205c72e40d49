import type { CaptureMode } from './amounts';
import { isExpired, isAttemptOpen, type ChargedBy, type Ending, type OrderFacts } from './order';
import { POLL_ISSUER_AFTER_MS, pollAfter } from './transaction';
import type { OrderStatus, TransactionStatus } from './transitions';

/** A payment transaction as decisions need it. Instants in epoch milliseconds. */
export interface TransactionSnapshot {
  id: string;
  attempt: number;
  status: TransactionStatus;
  /** The customer's charge may have been sent; absent otherwise, and with a card token. */
  charge_began?: true;
  /** An operator set its outcome by hand; absent otherwise. */
  outcome_set_by_hand?: true;
  /** End of the time for paying. */
  expires_at: number;
  /** When the outcome is polled next, epoch milliseconds; only while that is open. */
  poll_at?: number;
  /**
   * It ended unpaid, and the processor may have approved it all the same: when it is polled, epoch
   * milliseconds (rules 10.12). A workflow removes it once the reversal's workflow has started.
   */
  late_poll_at?: number;
  /** How many polls had no outcome; absent: none. */
  polls?: number;
  /** The processor answered about another amount or currency (rules 10.17); minor units. */
  answered?: { amount: number; currency: string };
  /** What was charged back and not won back, minor units; absent: nothing. */
  charged_back?: number;
  /** Only for authorizations: what it holds once accepted. */
  capture?: {
    capture_mode: CaptureMode;
    /** From acceptance to the end of the window, ISO 8601. */
    capture_period: string;
    /** Epoch milliseconds; known once it is accepted. */
    capture_ends_at?: number;
    /** Reserved and not requested; minor units. */
    reserved: number;
    /** Requested from the processor and not answered; minor units. */
    unanswered: number;
    /** Freed by refusals after the window had ended; minor units. */
    freed: number;
  };
}

/** A capture or void that the service made at the end of a capture window. */
export interface Closing {
  id: string;
  kind: 'capture' | 'void';
  status: OrderStatus;
  /** Minor units. */
  amount: number;
}

/** An order as decisions need it: what activities load, workflows hold and moves are planned from. */
export interface OrderSnapshot {
  id: string;
  project_id: string;
  status: OrderStatus;
  /** Grows with every change. A statement refuses a move planned from an older version; moveOrder plans it again. */
  version: number;
  /** Minor units. */
  amount: number;
  currency: string;
  /** Payment attempts it may have. */
  attempts_max: number;
  /** Null for a follow-up order. */
  charged_by: ChargedBy | null;
  ended?: Ending;
  /** The payment link that it pays; its expires_at in epoch milliseconds. */
  payment_link?: { id: string; expires_at: number };
  /** End of the time for paying, epoch milliseconds; Number.MAX_SAFE_INTEGER for a follow-up order, which has none. */
  expires_at: number;
  /** How far its clock is ahead of real time, in milliseconds (rules 23.4). */
  clock_offset_ms: number;
  /** Oldest first. */
  transactions: TransactionSnapshot[];
  /** Numbers of the webhook deliveries that are not finished; a workflow removes those that it has started. */
  deliveries: number[];
  /** Follow-up orders the service has made at the end of a capture window, oldest first; absent when there are none. */
  closings?: Closing[];
  /** What an operator has to look at; absent when there is nothing. */
  attention?: string;
}

/** The facts that an order's status is computed from. */
export function orderFacts({ status, attempts_max, ended, transactions }: OrderSnapshot): OrderFacts {
  return {
    transactions: transactions.map((one) => one.status),
    was_accepted: status === 'completed',
    attempts_max,
    ...(ended === undefined ? {} : { ended }),
  };
}

/** The latest attempt; a follow-up order has only one. `undefined` when there is none. */
export function latestAttempt(order: OrderSnapshot): TransactionSnapshot | undefined {
  return order.transactions.at(-1);
}

/**
 * When the time for paying ends, in epoch milliseconds: expires_at of the order or of its open transaction, whichever
 * is earlier.
 */
export function paymentExpiresAt(order: {
  expires_at: number;
  transactions: readonly Pick<TransactionSnapshot, 'status' | 'expires_at'>[];
}): number {
  const last = order.transactions.at(-1);
  return last !== undefined && isAttemptOpen(last.status)
    ? Math.min(order.expires_at, last.expires_at)
    : order.expires_at;
}

/** The transaction of that id; `undefined` when the order has none such. */
export function transactionOf(
  order: OrderSnapshot,
  transaction_id: string | undefined,
): TransactionSnapshot | undefined {
  return order.transactions.find((one) => one.id === transaction_id);
}

/**
 * The order after a poll without an outcome; the next poll is at `poll_at`, epoch milliseconds.
 */
export function withPoll(order: OrderSnapshot, transaction_id: string, poll_at: number): OrderSnapshot {
  return withTransaction(order, transaction_id, ({ polls = 0 }) => ({ poll_at, polls: polls + 1 }));
}

/** The order after the processor answered about another amount or currency than a transaction's. */
export function withAnswered(
  order: OrderSnapshot,
  transaction_id: string,
  { amount, currency }: NonNullable<TransactionSnapshot['answered']>,
): OrderSnapshot {
  return withTransaction(order, transaction_id, () => ({ answered: { amount, currency } }));
}

/** The order after the workflow of a transaction's reversal has started. */
export function withoutLatePoll(order: OrderSnapshot, transaction_id: string): OrderSnapshot {
  const transactions = order.transactions.map(({ late_poll_at, ...one }) =>
    one.id === transaction_id || late_poll_at === undefined ? one : { ...one, late_poll_at },
  );
  return { ...order, transactions };
}

function withTransaction(
  order: OrderSnapshot,
  transaction_id: string,
  change: (transaction: TransactionSnapshot) => Partial<TransactionSnapshot>,
): OrderSnapshot {
  const transactions = order.transactions.map((one) => (one.id === transaction_id ? { ...one, ...change(one) } : one));
  return { ...order, transactions };
}

/**
 * Where the outcome of the last transaction is awaited from; `undefined` when it is known, or nothing was sent.
 *
 * - `processor`: it has not given the outcome, or the worker may have died before writing it. A card token is charged,
 *   and a follow-up order executed, as soon as its order is written.
 * - `issuer`: the customer is in 3-D Secure, and may pay there without a notification.
 */
export function outcomeAwaitedFrom(order: {
  charged_by: ChargedBy | null;
  transactions: readonly { status: TransactionStatus; charge_began?: boolean }[];
}): 'processor' | 'issuer' | undefined {
  const last = order.transactions.at(-1);
  if (last?.status === 'pending') return 'issuer';
  const is_sent = order.charged_by !== 'customer' || last?.charge_began === true;
  return last?.status === 'processing' || (last?.status === 'new' && is_sent) ? 'processor' : undefined;
}

/**
 * Whether an operator may set the outcome of the last transaction (rules 10.14): the processor owes it, or the customer
 * was in 3-D Secure when the time for paying ended. `now` in epoch milliseconds.
 */
export function isSettableByHand(order: OrderSnapshot, now: number): boolean {
  const from = outcomeAwaitedFrom(order);
  return from === 'processor' || (from === 'issuer' && isExpired(paymentExpiresAt(order), now));
}

/**
 * Whether the time for paying is over, unless the processor owes the outcome, which is always waited for. `now` in
 * epoch milliseconds.
 */
export function shouldExpire(order: OrderSnapshot, now: number): boolean {
  return outcomeAwaitedFrom(order) !== 'processor' && isExpired(paymentExpiresAt(order), now);
}

/** Milliseconds until the next poll of an open outcome; after no answer the record has an earlier one planned. */
export function untilPoll(order: OrderSnapshot, polls: number, now: number): number {
  const pause = pollPause(order, polls, now);
  const left = (latestAttempt(order)?.poll_at ?? now) - now;
  return outcomeAwaitedFrom(order) === 'issuer' && left > 0 ? Math.min(pause, left) : pause;
}

/** Milliseconds between two polls of an open outcome; `polls` counts the earlier ones by schedule. */
export function pollPause(order: OrderSnapshot, polls: number, now: number): number {
  if (outcomeAwaitedFrom(order) !== 'issuer') return pollAfter(polls);
  return Math.min(POLL_ISSUER_AFTER_MS, paymentExpiresAt(order) - now);
}
