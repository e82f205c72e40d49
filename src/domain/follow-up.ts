import { ServiceError, validationError } from '../errors';
import {
  capturableAmount,
  reservedAmount,
  isOverdrawn,
  refundableAmount,
  voidableAmount,
  type TransactionMoney,
} from './amounts';
import type { AcceptedRequest } from './accepted-request';
import { OVERDRAWN } from './attention';
import { isExpired, isAttemptOpen, type Ending } from './order';
import type { TransactionStatus } from './transitions';

/**
 * Follow-up orders move a payment's money after it was taken or reserved. Each is a separate order that points to the
 * payment and never changes its status or what was sent with it (rules 9.1). A new kind is a row in this table.
 *
 * `confirmed` and `pending` name the columns of the payment's transaction that it moves; a kind without `pending` sets
 * no amount aside first.
 */
export const FOLLOW_UPS = {
  /** Takes money that an authorization holds. */
  capture: {
    flag: 'is-capture',
    original_flag: 'has-captures',
    of: 'capture_of_order_id',
    orders: null,
    credit_debit: 'credit',
    confirmed: 'captured_amount',
    pending: 'capture_pending_amount',
  },
  /** Releases money that an authorization holds. */
  void: {
    flag: 'is-void',
    original_flag: 'has-voids',
    of: 'void_of_order_id',
    orders: null,
    credit_debit: 'debit',
    confirmed: 'voided_amount',
    pending: 'void_pending_amount',
  },
  /** Gives captured money back. */
  refund: {
    flag: 'is-refund',
    original_flag: 'has-refunds',
    of: 'refund_of_order_id',
    orders: 'refund_orders',
    credit_debit: 'debit',
    confirmed: 'refunded_amount',
    pending: 'refund_pending_amount',
  },
  /** The issuer took captured money back. */
  chargeback: {
    flag: 'is-chargeback',
    original_flag: 'has-chargebacks',
    of: 'chargeback_of_order_id',
    orders: 'chargeback_orders',
    credit_debit: 'debit',
    confirmed: 'charged_back_amount',
    pending: null,
  },
  /**
   * A chargeback that was won brings money back (credit); a payment approved after its order had ended is given back
   * (debit).
   */
  reversal: {
    flag: 'is-reversal',
    original_flag: 'has-reversals',
    of: 'reversal_of_order_id',
    orders: 'reversal_orders',
    credit_debit: 'debit',
    confirmed: null,
    pending: null,
  },
} as const satisfies Record<string, FollowUpRow>;

/** A column of amounts of the payment's transaction. */
export type AmountColumn = Extract<keyof TransactionMoney, `${string}_amount`>;

interface FollowUpRow {
  /** On the follow-up order. */
  readonly flag: string;
  /** On the payment order, once one is completed. */
  readonly original_flag: string;
  /** Field of the follow-up order that names the payment order. */
  readonly of: string;
  /** Field of the payment order that lists them, besides related_orders. */
  readonly orders: string | null;
  readonly credit_debit: 'credit' | 'debit';
  readonly confirmed: AmountColumn | null;
  readonly pending: AmountColumn | null;
}

/** Kinds of follow-up orders, and of all orders. */
export type FollowUpKind = keyof typeof FOLLOW_UPS;
export type OrderKind = 'payment' | FollowUpKind;
export const FOLLOW_UP_KINDS = Object.keys(FOLLOW_UPS) as FollowUpKind[];

/** Operations that the processor initiates, and the kind of order that records each. */
export const PROCESSOR_INITIATED = {
  chargeback: 'chargeback',
  chargeback_reversal: 'reversal',
} as const satisfies Record<string, FollowUpKind>;

/** Whether the processor initiates the operation. */
export function isProcessorInitiated(operation: string): operation is keyof typeof PROCESSOR_INITIATED {
  return Object.hasOwn(PROCESSOR_INITIATED, operation);
}

/** Whether the kind moves reserved money, and so goes through the payment's workflow. */
export function movesReservedMoney(kind: FollowUpKind): kind is 'capture' | 'void' {
  return kind === 'capture' || kind === 'void';
}

/**
 * Who requested a follow-up order: the merchant by the API, the service itself, or the processor, which has already
 * done it.
 */
export type RequestedBy = 'merchant' | 'service' | 'processor';

/** A request for a follow-up order. */
export interface FollowUpRequest {
  kind: FollowUpKind;
  requested_by: RequestedBy;
  /** Minor units; absent: all that is left. */
  amount?: number | undefined;
}

/** A payment order, and its transaction whose money moves. */
export interface PaymentId {
  original_order_id: string;
  original_transaction_id: string;
}

/** A new follow-up order; absent fields are taken from the payment order (rules 9.3). */
export interface NewFollowUp extends FollowUpRequest, PaymentId {
  id: string;
  /** Only when a merchant requested it; its versions are those of the payment order. */
  request?: AcceptedRequest | undefined;
  /** The only transaction of the follow-up order. */
  transaction_id: string;
  merchant_order_id?: string | undefined;
  description?: string | undefined;
  extra?: unknown;
  /** Epoch milliseconds. */
  now: number;
}

/**
 * Which way the money goes. Only a reversal can go both ways: back to the customer or, after a won chargeback, back to
 * the merchant.
 */
export function creditDebitOf({
  kind,
  requested_by,
}: Pick<FollowUpRequest, 'kind' | 'requested_by'>): 'credit' | 'debit' {
  return kind === 'reversal' && requested_by === 'processor' ? 'credit' : FOLLOW_UPS[kind].credit_debit;
}

/** A refund has its own method on the wire; every other follow-up order has the payment's (rules 9.4). */
export function paymentMethodOf(kind: FollowUpKind, original: string): string {
  return kind === 'refund' ? 'credit-card-refund' : original;
}

/** The key under which the processor knows the operation: derived, so that every repeat is the same request. */
export function followUpIdempotencyKey(transaction_id: string, kind: FollowUpKind, follow_up_order_id: string): string {
  return `${transaction_id}:${kind}:${follow_up_order_id}`;
}

/**
 * The amount a follow-up order may move, in minor units. Throws when it may not: Conflict, CanNotCancelTransaction or
 * RefundError by its kind, ValidationError on `amount` for a capture or void of more than is left (rules 8.5, 8.6, 8.7,
 * 9.8). What the processor has already done is never refused.
 */
export function amountToMove(
  money: TransactionMoney,
  { kind, requested_by, amount, now }: FollowUpRequest & { now: number },
): number {
  if (requested_by === 'processor' || kind === 'reversal') return amount ?? money.amount;
  if (requested_by === 'service') return amount ?? reservedAmount(money);
  if (kind === 'refund') return refundOf(money, amount);
  const left = kind === 'capture' ? capturableAmount(money, now) : voidableAmount(money, now);
  if (left === 0) {
    throw kind === 'capture'
      ? new ServiceError('Conflict', whyNoCapture(money, now))
      : new ServiceError('CanNotCancelTransaction', whyNoVoid(money, now));
  }
  if (amount !== undefined && amount > left) throw validationError('amount', `More than is left: ${left}.`);
  return amount ?? left;
}

function refundOf(money: TransactionMoney, amount: number | undefined): number {
  const left = refundableAmount(money);
  if (left === 0) throw new ServiceError('RefundError', whyNoRefund(money));
  if (amount === 0) throw new ServiceError('RefundError', 'A refund of 0 gives nothing back.');
  if (amount !== undefined && amount > left) {
    throw new ServiceError('RefundError', `The refund exceeds what is left: ${left}.`);
  }
  return amount ?? left;
}

function whyNoCapture(money: TransactionMoney, now: number): string {
  if (money.capture_mode === null) return 'A sale is captured with its payment.';
  if (money.status !== 'accepted') return `The transaction is ${money.status}.`;
  if (money.capture_mode === 'delayed') {
    return 'A delayed transaction is captured by the service at the end of its expiration_period.';
  }
  if (isExpired(money.capture_ends_at ?? 0, now)) return 'The capture window has ended.';
  return 'Nothing is left to be captured.';
}

function whyNoVoid(money: TransactionMoney, now: number): string {
  if (money.capture_mode === null) return 'A sale cannot be voided: refund it.';
  if (money.status !== 'accepted') return `The transaction is ${money.status}.`;
  if (isExpired(money.capture_ends_at ?? 0, now)) return 'The capture window has ended.';
  return 'Nothing is left to be voided: what was captured is refunded.';
}

function whyNoRefund(money: TransactionMoney): string {
  if (money.status !== 'accepted') return `Nothing was paid: the transaction is ${money.status}.`;
  if (money.amount === 0) return 'Nothing was paid: an order of 0 checks the card.';
  return money.captured_amount === 0
    ? 'Nothing has been captured yet: void the transaction instead.'
    : 'Nothing is left to be refunded.';
}

/**
 * Why an operator must look at the follow-up order, in words; `undefined` if there is no reason. Either more is
 * returned than was captured: by a chargeback, by a refund that was under way when the chargeback came, or as the
 * capture that was under way is refused. Or the processor refuses a return or release that the service itself
 * requested: no other request will follow.
 */
export function followUpAttention(
  { kind, requested_by, amount }: Pick<FollowUpRequest, 'kind' | 'requested_by'> & { amount: number },
  to: TransactionStatus,
  money: TransactionMoney,
): string | undefined {
  if (to === 'error' && requested_by === 'service' && kind !== 'capture') {
    return `the processor refused the ${kind}: the customer's money is still held`;
  }
  // While the payment's own outcome is open, the captured amount is unknown. A capture under way may be executed.
  const captured_amount = money.captured_amount + money.capture_pending_amount;
  const isBeyond = (captured: number) => isOverdrawn({ ...money, captured_amount: captured });
  const gave_back = (kind === 'chargeback' || kind === 'refund') && to === 'accepted';
  const refused_capture = kind === 'capture' && to === 'error' && !isBeyond(captured_amount + amount);
  return (gave_back || refused_capture) && !isAttemptOpen(money.status) && isBeyond(captured_amount)
    ? OVERDRAWN
    : undefined;
}

/** How a follow-up order's outcome changes the columns of the payment's transaction, in minor units. */
export function amountChanges(
  follow_up: { kind: FollowUpKind; credit_debit: 'credit' | 'debit'; amount: number },
  to: TransactionStatus,
): Partial<Record<AmountColumn, number>> {
  const { kind, credit_debit, amount } = follow_up;
  if (to !== 'accepted' && to !== 'error') return {};
  const { pending } = FOLLOW_UPS[kind];
  const confirmed = kind === 'reversal' && credit_debit === 'credit' ? 'won_back_amount' : FOLLOW_UPS[kind].confirmed;
  return {
    ...(pending === null ? {} : { [pending]: -amount }),
    ...(confirmed === null || to === 'error' ? {} : { [confirmed]: amount }),
  };
}

/** Whether an authorization ends: nothing of it was captured and all of it is released. */
export function isFullyReleased({
  capture_mode,
  status,
  amount,
  captured_amount,
  voided_amount,
}: TransactionMoney): boolean {
  return (
    capture_mode !== null &&
    status === 'accepted' &&
    captured_amount === 0 &&
    voided_amount > 0 &&
    voided_amount === amount
  );
}

/**
 * How such an authorization ends: `expired` when the service released some of it at the end of its window, else
 * `cancelled`.
 */
export function statusAfterRelease(released_by_service: boolean): Ending {
  return released_by_service ? 'expired' : 'cancelled';
}
