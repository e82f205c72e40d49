import { isExpired } from './order';
import type { TransactionStatus } from './transitions';

/** How an authorization is captured; a sale is captured at once and has no mode (rules 8.1). */
export const CAPTURE_MODES = ['manual', 'delayed'] as const;
export type CaptureMode = (typeof CAPTURE_MODES)[number];

/**
 * The money of one payment transaction, in minor units. Confirmed amounts only grow; requested but unanswered amounts
 * are the `pending` ones, so that no money is requested twice (rules 9.6).
 */
export interface TransactionMoney {
  status: TransactionStatus;
  amount: number;
  /** Null: a sale. */
  capture_mode: CaptureMode | null;
  /** End of the capture window in epoch milliseconds; null before acceptance, and for a sale. */
  capture_ends_at: number | null;
  captured_amount: number;
  voided_amount: number;
  refunded_amount: number;
  charged_back_amount: number;
  won_back_amount: number;
  capture_pending_amount: number;
  void_pending_amount: number;
  refund_pending_amount: number;
}

/** How much of an order was moved and how much still can be (rules 5.4). Minor units. */
export interface AmountDetails {
  capturable: number;
  captured: number;
  refundable: number;
  refunded: number;
  voidable: number;
  voided: number;
}

/** The fields that determine how much an authorization still reserves. */
export type Reservation = Pick<
  TransactionMoney,
  | 'status'
  | 'amount'
  | 'capture_mode'
  | 'captured_amount'
  | 'voided_amount'
  | 'capture_pending_amount'
  | 'void_pending_amount'
>;

/** The amount that is still reserved and not requested, in minor units. 0 for a sale, and before acceptance. */
export function reservedAmount(money: Reservation): number {
  if (money.capture_mode === null || money.status !== 'accepted') return 0;
  return (
    money.amount -
    money.captured_amount -
    money.voided_amount -
    money.capture_pending_amount -
    money.void_pending_amount
  );
}

/** The amount that may be voided now, in minor units: what is reserved, within the window. */
export function voidableAmount(money: TransactionMoney, now: number): number {
  return money.capture_ends_at !== null && !isExpired(money.capture_ends_at, now) ? reservedAmount(money) : 0;
}

/** The amount that the merchant may capture now, in minor units; delayed captures are made by the service. */
export function capturableAmount(money: TransactionMoney, now: number): number {
  return money.capture_mode === 'manual' ? voidableAmount(money, now) : 0;
}

/**
 * The amount that may still be refunded, in minor units: without chargebacks, unless they were won. A win may be
 * reported before its chargeback; it then does not raise the amount above the captured one.
 */
export function refundableAmount(money: TransactionMoney): number {
  const { captured_amount, refunded_amount, refund_pending_amount, charged_back_amount, won_back_amount } = money;
  return Math.max(
    0,
    captured_amount - refunded_amount - refund_pending_amount - Math.max(0, charged_back_amount - won_back_amount),
  );
}

/** Whether the customer got back more than was captured, which is possible because chargebacks are always recorded. */
export function isOverdrawn({
  captured_amount,
  refunded_amount,
  charged_back_amount,
  won_back_amount,
}: TransactionMoney): boolean {
  return refunded_amount + charged_back_amount - won_back_amount > captured_amount;
}

/** Sums over the payment transactions of an order. `now` in epoch milliseconds. */
export function amountDetails(transactions: readonly TransactionMoney[], now: number): AmountDetails {
  const sum = (part: (money: TransactionMoney) => number) =>
    transactions.reduce((total, money) => total + part(money), 0);
  return {
    capturable: sum((money) => capturableAmount(money, now)),
    captured: sum((money) => money.captured_amount),
    refundable: sum(refundableAmount),
    refunded: sum((money) => money.refunded_amount),
    voidable: sum((money) => voidableAmount(money, now)),
    voided: sum((money) => money.voided_amount),
  };
}
