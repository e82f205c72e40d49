/** Follow-up orders: each gives back or takes what an earlier payment left open, and is an order of its own (DECISIONS, Money). */
export const FOLLOW_UPS = {
  /** A payment that was approved after its order had ended is given back at once. */
  reversal: { flag: 'is-reversal', original_flag: 'has-reversals', credit_debit: 'debit', of: 'reversal_of_order_id', orders: 'reversal_orders' },
} as const;

export type FollowUpKind = keyof typeof FOLLOW_UPS;
export type OrderKind = 'payment' | FollowUpKind;

/** The key under which the processor knows the operation: derived, so that every repeat is the same request. */
export function followUpKey(transaction_id: string, kind: FollowUpKind, follow_up_order_id: string): string {
  return `${transaction_id}:${kind}:${follow_up_order_id}`;
}
