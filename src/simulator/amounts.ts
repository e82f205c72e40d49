/** The amounts of one transaction so far, in minor units; operations that are still processing count as done. */
export interface Sums {
  /** Approved sale or authorization. */
  readonly authorized: number;
  readonly is_sale: boolean;
  readonly capture: number;
  readonly void: number;
  readonly refund: number;
  readonly reversal: number;
  readonly chargeback: number;
  readonly chargeback_reversal: number;
}

/** Most that a follow-up may still move, in minor units. The processor refuses anything above it. */
export function availableAmount(operation: 'capture' | 'void' | 'refund' | 'reversal', sums: Sums): number {
  const held = sums.is_sale ? 0 : sums.authorized - sums.capture - sums.void - sums.reversal;
  const taken = sums.is_sale ? sums.authorized - sums.reversal : sums.capture;
  const refundable = taken - sums.refund - sums.chargeback + sums.chargeback_reversal;
  const available = { capture: held, void: held, refund: refundable, reversal: sums.is_sale ? refundable : held };
  return Math.max(0, available[operation]);
}

/** The amount that the merchant is paid or pays back, and the processor's fee, in minor units of its currency. */
export function settlementOf(operation: string, amount: number): { settlement_amount: number; fee_amount: number } {
  if (operation !== 'sale' && operation !== 'capture') return { settlement_amount: amount, fee_amount: 0 };
  // 1.4 % and 20 minor units, at most half of a small amount.
  const fee_amount = Math.min(Math.floor(amount / 2), Math.round(amount * 0.014) + 20);
  return { settlement_amount: amount - fee_amount, fee_amount };
}
