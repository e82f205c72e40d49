import type { TransactionMoney } from '../../src/domain/amounts';

/** Where the capture window of anAuthorization ends, epoch milliseconds. */
export const CAPTURE_END = 10_000;

/** The money of a sale of 100 that was accepted. */
export const aSale = (over: Partial<TransactionMoney> = {}): TransactionMoney => ({
  status: 'accepted',
  amount: 100,
  capture_mode: null,
  capture_ends_at: null,
  captured_amount: 100,
  voided_amount: 0,
  refunded_amount: 0,
  charged_back_amount: 0,
  won_back_amount: 0,
  capture_pending_amount: 0,
  void_pending_amount: 0,
  refund_pending_amount: 0,
  ...over,
});

/** The money of a manual authorization of 100 that was accepted and not touched since. */
export const anAuthorization = (over: Partial<TransactionMoney> = {}): TransactionMoney =>
  aSale({ capture_mode: 'manual', capture_ends_at: CAPTURE_END, captured_amount: 0, ...over });
