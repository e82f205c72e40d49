import { OVERDRAWN, reasonsInWords } from './attention';
import type { PaymentMethodDetails } from './new-order';
import { isEnding, isAttemptOpen, orderStatus, type Ending } from './order';
import {
  latestAttempt,
  orderFacts,
  outcomeAwaitedFrom,
  transactionOf,
  type OrderSnapshot,
  type TransactionSnapshot,
} from './order-snapshot';
import { POLL_AFTER_END_MS, POLL_ISSUER_AFTER_MS, pollAfter, type EventResult, type EventSource } from './transaction';
import { ORDER_MOVES, TRANSACTION_MOVES, canMove, type OrderStatus, type TransactionStatus } from './transitions';

/**
 * A change to make: one transaction's status (with the order's ending, when the outcome came after it), or the end of
 * an unpaid order together with its open transaction.
 */
export type StatusChange =
  | {
      transaction_id: string;
      to: TransactionStatus;
      ended?: Ending;
      /** With the acceptance of an authorization: when its capture window ends, epoch milliseconds. */
      capture_ends_at?: number;
    }
  | { transaction_id?: never; ended: Ending };

/** A change with the details that are recorded with it. */
export interface PlannedMove {
  change: StatusChange;
  details: MoveDetails;
}

/** Columns that are written in addition to the statuses: of the event, and new facts about the transaction. */
export interface MoveDetails {
  source: EventSource;
  /** When the service noticed the change: epoch milliseconds, from the workflow. */
  now: number;
  /** When it happened at the processor, ISO 8601. If absent or later than `now`, `now` counts. */
  occurred?: string | undefined;
  result?: EventResult | undefined;
  authorization_iso_response_code?: string | undefined;
  /** Why an operator set the outcome by hand; with source `operator`. */
  reason?: string | undefined;
  /** The versions it may be moved from; absent: any. */
  versions?: readonly number[] | undefined;
  /** Columns of the transaction that became known with this move. */
  transaction?: {
    payment_method?: string | undefined;
    payment_method_brand?: string | undefined;
    payment_method_details?: PaymentMethodDetails | undefined;
    response_code?: string | undefined;
    response_code_description?: string | undefined;
    challenge_url?: string | undefined;
    received_3ds_result?: string | undefined;
    liability_shift?: boolean | undefined;
    captured_amount?: number | undefined;
  };
}

/** A change that the tables allow, ready to be written: order and transaction move together or not at all. */
export interface Move {
  transaction?: { transaction_id: string; to: TransactionStatus; capture_ends_at?: number | undefined };
  order_to: OrderStatus;
  ended?: Ending;
  /** The order's status changes, so its webhook is due. */
  status_changed: boolean;
  /** Set when this move completes the order; becomes its `completed`. */
  completes: boolean;
}

/** A move that the tables do not allow: a bug of the service, never a merchant's error. */
export class ForbiddenMove extends Error {}

/**
 * The move for a change, or `undefined` if the order already made it (a repeat). The order's status is computed from
 * its transactions, then checked against the order's own table. Throws ForbiddenMove when a table does not allow it.
 */
export function planMove(order: OrderSnapshot, change: StatusChange): Move | undefined {
  const transaction: Move['transaction'] =
    change.transaction_id === undefined ? openTransactionTo(order, change.ended) : change;
  const current = transactionOf(order, transaction?.transaction_id);
  if (transaction && current?.status === transaction.to) return undefined;
  if (transaction === undefined && order.ended === change.ended) return undefined;
  if (transaction && !(current && canMove(TRANSACTION_MOVES, current.status, transaction.to))) {
    throw new ForbiddenMove(`transaction ${current?.status ?? 'of another order'} → ${transaction.to}`);
  }
  const ended = transaction?.to === 'accepted' ? order.ended : (change.ended ?? endingOf(order, transaction?.to));
  const transactions = order.transactions.map((one) =>
    one.id === transaction?.transaction_id ? { ...one, status: transaction.to } : one,
  );
  const order_to = orderStatus(orderFacts({ ...order, transactions, ...(ended === undefined ? {} : { ended }) }));
  const status_changed = order_to !== order.status;
  if (status_changed && !canMove(ORDER_MOVES, order.status, order_to)) {
    throw new ForbiddenMove(`order ${order.status} → ${order_to}`);
  }
  return {
    ...(transaction && {
      transaction: {
        transaction_id: transaction.transaction_id,
        to: transaction.to,
        capture_ends_at: transaction.capture_ends_at,
      },
    }),
    order_to,
    ...(ended === undefined ? {} : { ended }),
    status_changed,
    completes: status_changed && order_to === 'completed',
  };
}

/**
 * The order after the move, as the database holds it once the move is written. `delivery`: number of the webhook that
 * is due.
 */
export function afterMove(
  order: OrderSnapshot,
  move: Move,
  delivery: number | undefined,
  details: Pick<MoveDetails, 'source' | 'now'>,
): OrderSnapshot {
  const late_poll_at = lateApprovalPollAt(order, move, details);
  const attention = reasonsInWords([order.attention, moveAttention(order, move)]);
  return {
    ...order,
    ...(attention !== undefined && { attention }),
    status: move.order_to,
    version: order.version + 1,
    ...(move.ended === undefined ? {} : { ended: move.ended }),
    transactions: order.transactions.map((one) =>
      one.id === move.transaction?.transaction_id
        ? {
            ...movedTransaction(order, one, move.transaction, details.now),
            ...(late_poll_at !== undefined && { late_poll_at }),
          }
        : one,
    ),
    deliveries: delivery === undefined ? order.deliveries : [...order.deliveries, delivery],
  };
}

/**
 * When the processor is polled for a late approval of a payment that this move ends unpaid, epoch milliseconds:
 * an outcome was awaited, and the end is not the processor's word (rules 10.11). `undefined` for any other move, and for
 * a card check, whose approval moves no money. This alone decides what is watched. Whether an approval is given back
 * when it comes, also without a watch, is decided by endedUnpaid (`src/db/orders/transactions.ts`).
 */
export function lateApprovalPollAt(
  order: OrderSnapshot,
  { transaction }: Move,
  { source, now }: Pick<MoveDetails, 'source' | 'now'>,
): number | undefined {
  const ends_unpaid = isEnding(transaction?.to) || (transaction?.to === 'error' && source !== 'processor');
  const is_awaited =
    transaction?.transaction_id === latestAttempt(order)?.id && outcomeAwaitedFrom(order) !== undefined;
  // A follow-up order has no late approval: what contradicts it needs attention (rules 10.14).
  return ends_unpaid && is_awaited && order.charged_by !== null && order.amount > 0
    ? now + POLL_AFTER_END_MS
    : undefined;
}

/**
 * Why an operator must look at a payment that gets its outcome, or ends, by this move: more was charged back before
 * than it captures, which an authorization does later. `undefined` if there is no reason, or the order has it already.
 */
export function moveAttention(order: OrderSnapshot, { transaction }: Move): string | undefined {
  const before = transactionOf(order, transaction?.transaction_id);
  if (transaction === undefined || before === undefined) return undefined;
  if (!isAttemptOpen(before.status) || isAttemptOpen(transaction.to)) return undefined;
  const captured = transaction.to === 'accepted' && before.capture === undefined ? order.amount : 0;
  const is_known = order.attention?.includes(OVERDRAWN) === true;
  return (before.charged_back ?? 0) > captured && !is_known ? OVERDRAWN : undefined;
}

/**
 * When the outcome of a transaction that moves to `to` is polled first, epoch milliseconds; `undefined` when none is
 * open.
 */
export function firstPollAt(to: TransactionStatus | undefined, now: number): number | undefined {
  if (to === 'pending') return now + POLL_ISSUER_AFTER_MS;
  return to === 'processing' ? now + pollAfter(0) : undefined;
}

/** Whether the customer has left the issuer, so that the processor owes the outcome from now on. */
export function isBackFromIssuer(from: TransactionStatus | undefined, to: TransactionStatus | undefined): boolean {
  return from === 'pending' && to === 'processing';
}

/** An authorization that is accepted holds the whole amount until its window ends. */
function movedTransaction(
  order: OrderSnapshot,
  transaction: TransactionSnapshot,
  { to, capture_ends_at }: NonNullable<Move['transaction']>,
  now: number,
): TransactionSnapshot {
  const { capture } = transaction;
  const { poll_at: _, polls, ...before } = transaction;
  const poll_at = firstPollAt(to, now);
  const moved = {
    ...before,
    status: to,
    ...(polls !== undefined && !isBackFromIssuer(transaction.status, to) && { polls }),
    ...(poll_at !== undefined && { poll_at }),
  };
  if (capture === undefined || capture_ends_at === undefined) return moved;
  return { ...moved, capture: { ...capture, capture_ends_at, reserved: order.amount } };
}

function openTransactionTo(order: OrderSnapshot, to: Ending): { transaction_id: string; to: Ending } | undefined {
  const last = latestAttempt(order);
  return last !== undefined && isAttemptOpen(last.status) ? { transaction_id: last.id, to } : undefined;
}

function endingOf(order: OrderSnapshot, to: TransactionStatus | undefined): Ending | undefined {
  if (order.status === 'completed') return order.ended;
  return isEnding(to) ? to : order.ended;
}
