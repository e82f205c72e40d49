/** What was done with the money of one payment transaction; minor units, confirmed by the processor. */
export interface TransactionAmounts {
  captured_amount: number;
}

/** What of an order was moved and what still can be (DECISIONS, HTTP surface 3). Minor units. */
export interface AmountDetails {
  capturable: number;
  captured: number;
  refundable: number;
  refunded: number;
  voidable: number;
  voided: number;
}

/**
 * Sums over the payment transactions of an order. A sale is captured as it is accepted, so nothing of it is left to be
 * captured or voided, and all of it can be given back.
 */
export function amountDetails(transactions: readonly TransactionAmounts[]): AmountDetails {
  const captured = transactions.reduce((sum, { captured_amount }) => sum + captured_amount, 0);
  return { capturable: 0, captured, refundable: captured, refunded: 0, voidable: 0, voided: 0 };
}
