import type { CaptureMode } from './amounts';
import { hasEnded, isEnding, isOpen, orderStatus, type Ending, type OrderFacts } from './order';
import { ORDER_MOVES, TRANSACTION_MOVES, mayMove, type OrderStatus, type TransactionStatus } from './transitions';

/** A payment transaction as decisions need it. Instants in epoch milliseconds. */
export interface TransactionRecord {
  transaction_id: string;
  attempt: number;
  status: TransactionStatus;
  /** End of the time for paying. */
  end: number;
  /** Only for authorizations: what it holds once accepted. */
  capture?: {
    mode: CaptureMode;
    /** From acceptance to the end of the window, ISO 8601. */
    period: string;
    /** Epoch milliseconds; known once it is accepted. */
    end?: number;
    /** Reserved and not requested; minor units. */
    reserved: number;
    /** Requested from the processor and not answered; minor units. */
    unanswered: number;
    /** Freed by refusals after the window had ended; minor units, absent when there were none. */
    freed?: number;
  };
}

/** A capture or void that the service made at the end of a capture window. */
export interface Closing {
  order_id: string;
  kind: 'capture' | 'void';
  status: OrderStatus;
}

/** An order as decisions need it: what activities load, workflows hold and moves are planned from. */
export interface OrderRecord {
  order_id: string;
  status: OrderStatus;
  /** Grows with every change; a move planned from an older version is refused by the database. */
  version: number;
  /** Status changes so far. */
  moves: number;
  /** Minor units. */
  amount: number;
  currency: string;
  /** Payment attempts it may have. */
  attempts_max: number;
  ended?: Ending;
  /** End of the time for paying, epoch milliseconds; Number.MAX_SAFE_INTEGER for a follow-up order, which has none. */
  order_end: number;
  /** Oldest first. */
  transactions: TransactionRecord[];
  /** Webhooks whose delivery has not started, by number of the status change. */
  deliveries: number[];
  /** Follow-up orders the service has made at the end of a capture window, oldest first; absent when there are none. */
  closings?: Closing[];
  /** What an operator has to look at; absent when there is nothing. */
  attention?: string;
}

/**
 * A change to make: one transaction's status (with the order's ending, when the outcome came after it), or the end of an unpaid
 * order together with its open transaction.
 */
export type Change =
  | {
      transaction_id: string;
      to: TransactionStatus;
      ended?: Ending;
      /** With the acceptance of an authorization: when its capture window ends, epoch milliseconds. */
      capture_end?: number;
    }
  | { transaction_id?: never; ended: Ending };

/** A change that the tables allow, ready to be written: order and transaction move together or not at all. */
export interface Move {
  transaction?: { transaction_id: string; to: TransactionStatus; capture_end?: number };
  order_to: OrderStatus;
  ended?: Ending;
  /** The order's status changes, so its webhook is due. */
  status_changed: boolean;
  /** The order completes with it: its `completed` is this moment. */
  completes: boolean;
}

/** A move the tables do not allow: our mistake, never a merchant's. */
export class ForbiddenMove extends Error {}

/** What an order's status is computed from. */
export function orderFacts({ status, attempts_max, ended, transactions }: OrderRecord): OrderFacts {
  return { transactions: transactions.map((one) => one.status), was_accepted: status === 'completed', attempts_max, ...(ended === undefined ? {} : { ended }) };
}

/** The latest attempt; a follow-up order has only one. `undefined` when there is none. */
export function lastTransaction(order: OrderRecord): TransactionRecord | undefined {
  return order.transactions.at(-1);
}

/**
 * The move that a change makes, or `undefined` when the order has made it already (a repeat).
 * The order's status is computed from its transactions, then checked against the order's own table. Throws ForbiddenMove when a
 * table does not allow it.
 */
export function planMove(order: OrderRecord, change: Change): Move | undefined {
  const transaction: Move['transaction'] = change.transaction_id === undefined ? openTransactionTo(order, change.ended) : change;
  const present = order.transactions.find((one) => one.transaction_id === transaction?.transaction_id);
  if (transaction && present?.status === transaction.to) return undefined;
  if (transaction === undefined && order.ended === change.ended) return undefined;
  if (transaction && !(present && mayMove(TRANSACTION_MOVES, present.status, transaction.to))) {
    throw new ForbiddenMove(`transaction ${present?.status ?? 'of another order'} → ${transaction.to}`);
  }
  const ended = transaction?.to === 'accepted' ? order.ended : (change.ended ?? endingOf(order, transaction?.to));
  const transactions = order.transactions.map((one) => (one.transaction_id === transaction?.transaction_id ? { ...one, status: transaction.to } : one));
  const order_to = orderStatus(orderFacts({ ...order, transactions, ...(ended === undefined ? {} : { ended }) }));
  const status_changed = order_to !== order.status;
  if (status_changed && !mayMove(ORDER_MOVES, order.status, order_to)) throw new ForbiddenMove(`order ${order.status} → ${order_to}`);
  return {
    ...(transaction === undefined ? {} : { transaction: { transaction_id: transaction.transaction_id, to: transaction.to, ...(transaction.capture_end === undefined ? {} : { capture_end: transaction.capture_end }) } }),
    order_to,
    ...(ended === undefined ? {} : { ended }),
    status_changed,
    completes: status_changed && order_to === 'completed',
  };
}

/** The order after the move, as the database holds it once the move is written. `delivery`: number of the webhook that is due. */
export function afterMove(order: OrderRecord, move: Move, delivery: number | undefined): OrderRecord {
  return {
    ...order,
    status: move.order_to,
    version: order.version + 1,
    moves: order.moves + (move.status_changed ? 1 : 0),
    ...(move.ended === undefined ? {} : { ended: move.ended }),
    transactions: order.transactions.map((one) => (one.transaction_id === move.transaction?.transaction_id ? movedTransaction(order, one, move.transaction) : one)),
    deliveries: delivery === undefined ? order.deliveries : [...order.deliveries, delivery],
  };
}

/** An authorization that is accepted holds the whole amount until its window ends. */
function movedTransaction(order: OrderRecord, transaction: TransactionRecord, { to, capture_end }: NonNullable<Move['transaction']>): TransactionRecord {
  const { capture } = transaction;
  if (capture === undefined || capture_end === undefined) return { ...transaction, status: to };
  return { ...transaction, status: to, capture: { ...capture, end: capture_end, reserved: order.amount } };
}

/** When the customer's time is over, in epoch milliseconds: the order's end, or the earlier end of its open transaction. */
export function paymentEnd(order: OrderRecord): number {
  const last = lastTransaction(order);
  return last !== undefined && isOpen(last.status) ? Math.min(order.order_end, last.end) : order.order_end;
}

/**
 * Whether the order waits for the outcome of a charge: the processor has not given it or, with a card token, the worker may have
 * died before writing it.
 */
export function awaitsOutcome(order: OrderRecord): boolean {
  const last = lastTransaction(order);
  return last?.status === 'processing' || (last?.status === 'new' && order.attempts_max === 1);
}

/** Whether the time for paying is over and no outcome is awaited: an unknown outcome is always waited for. `now` in epoch milliseconds. */
export function isDue(order: OrderRecord, now: number): boolean {
  return !awaitsOutcome(order) && hasEnded(paymentEnd(order), now);
}

function openTransactionTo(order: OrderRecord, to: Ending): { transaction_id: string; to: Ending } | undefined {
  const last = lastTransaction(order);
  return last !== undefined && isOpen(last.status) ? { transaction_id: last.transaction_id, to } : undefined;
}

function endingOf(order: OrderRecord, to: TransactionStatus | undefined): Ending | undefined {
  if (order.status === 'completed') return order.ended;
  return isEnding(to) ? to : order.ended;
}
