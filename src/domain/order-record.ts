import type { CaptureMode } from './amounts';
import { isExpired, isOpen, type ChargedBy, type Ending, type OrderFacts } from './order';
import type { OrderStatus, TransactionStatus } from './transitions';

/** A payment transaction as decisions need it. Instants in epoch milliseconds. */
export interface TransactionRecord {
  id: string;
  attempt: number;
  status: TransactionStatus;
  /** The customer's charge may have been sent; absent otherwise, and with a card token. */
  charge_began?: true;
  /** An operator settled its outcome by hand; absent otherwise. */
  settled_by_hand?: true;
  /** End of the time for paying. */
  expires_at: number;
  /** When the processor is asked next for its outcome, epoch milliseconds; only while that is open. */
  poll_at?: number;
  /** How often the processor was asked for an outcome that it did not have; absent: never. */
  polls?: number;
  /** The processor answered about another amount or currency (rules 10.17); minor units. */
  answered?: { amount: number; currency: string };
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
export interface OrderRecord {
  id: string;
  project_id: string;
  status: OrderStatus;
  /** Grows with every change; a move planned from an older version is refused by the database. */
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
  transactions: TransactionRecord[];
  /** Numbers of the webhook deliveries that are not finished; a workflow removes those that it has started. */
  deliveries: number[];
  /** Follow-up orders the service has made at the end of a capture window, oldest first; absent when there are none. */
  closings?: Closing[];
  /** What an operator has to look at; absent when there is nothing. */
  attention?: string;
}

/** The facts that an order's status is computed from. */
export function orderFacts({ status, attempts_max, ended, transactions }: OrderRecord): OrderFacts {
  return {
    transactions: transactions.map((one) => one.status),
    was_accepted: status === 'completed',
    attempts_max,
    ...(ended === undefined ? {} : { ended }),
  };
}

/** The latest attempt; a follow-up order has only one. `undefined` when there is none. */
export function lastTransaction(order: OrderRecord): TransactionRecord | undefined {
  return order.transactions.at(-1);
}

/**
 * When the time for paying ends, in epoch milliseconds: expires_at of the order or of its open transaction, whichever
 * is earlier.
 */
export function paymentExpiresAt(order: {
  expires_at: number;
  transactions: readonly Pick<TransactionRecord, 'status' | 'expires_at'>[];
}): number {
  const last = order.transactions.at(-1);
  return last !== undefined && isOpen(last.status) ? Math.min(order.expires_at, last.expires_at) : order.expires_at;
}

/** The transaction of that id; `undefined` when the order has none such. */
export function transactionOf(order: OrderRecord, transaction_id: string | undefined): TransactionRecord | undefined {
  return order.transactions.find((one) => one.id === transaction_id);
}

/**
 * The order after the processor was asked for an outcome that it did not have; it is asked next at `poll_at`, epoch
 * milliseconds.
 */
export function withPoll(order: OrderRecord, transaction_id: string, poll_at: number): OrderRecord {
  return withTransaction(order, transaction_id, ({ polls = 0 }) => ({ poll_at, polls: polls + 1 }));
}

/** The order after the processor answered about another amount or currency than a transaction's. */
export function withAnswered(
  order: OrderRecord,
  transaction_id: string,
  { amount, currency }: NonNullable<TransactionRecord['answered']>,
): OrderRecord {
  return withTransaction(order, transaction_id, () => ({ answered: { amount, currency } }));
}

function withTransaction(
  order: OrderRecord,
  transaction_id: string,
  change: (transaction: TransactionRecord) => Partial<TransactionRecord>,
): OrderRecord {
  const transactions = order.transactions.map((one) => (one.id === transaction_id ? { ...one, ...change(one) } : one));
  return { ...order, transactions };
}

/**
 * Whether the order waits for the outcome of a charge: the processor has not given it, or the worker may have died
 * before writing it. A card token is charged as soon as its order is written.
 */
export function awaitsOutcome(order: OrderRecord): boolean {
  const last = lastTransaction(order);
  const charge_began = order.charged_by === 'token' || last?.charge_began === true;
  return last?.status === 'processing' || (last?.status === 'new' && charge_began);
}

/**
 * Whether the time for paying is over and no outcome is awaited: an unknown outcome is always waited for. `now` in
 * epoch milliseconds.
 */
export function shouldExpire(order: OrderRecord, now: number): boolean {
  return !awaitsOutcome(order) && isExpired(paymentExpiresAt(order), now);
}

/** Whether the customer is in 3-D Secure: they may pay there without a notification. */
export function isAtIssuer(order: OrderRecord): boolean {
  return lastTransaction(order)?.status === 'pending';
}

/** Whether a charge is under way whose outcome only the processor knows. */
export function isOutcomeOpen(order: OrderRecord): boolean {
  return awaitsOutcome(order) || isAtIssuer(order);
}
