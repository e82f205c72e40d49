import type { Rows } from './rows';

/** A statement of src/db/orders, as the model carries it out. */
export interface Statement {
  name: string;
  /** Its name, where it is prepared, or the beginning of its text. */
  is: RegExp;
  run: (bindings: never) => unknown[];
}

export const AMOUNTS = {
  captured_amount: 0,
  voided_amount: 0,
  refunded_amount: 0,
  charged_back_amount: 0,
  won_back_amount: 0,
  capture_pending_amount: 0,
  void_pending_amount: 0,
  refund_pending_amount: 0,
};

export const NEW_TRANSACTION = {
  ...AMOUNTS,
  original_transaction_id: null,
  payment_method_details: null,
  charge_began: false,
  capture_mode: null,
  capture_period: null,
  capture_ends_at: null,
  expires_at: null,
  poll_at: null,
  polls: 0,
  answered_amount: null,
  answered_currency: null,
};

export const NEW_ORDER = { kind: 'payment', requested_by: null, related_order_id: null, ended: null, attention: null };

export interface Claim {
  request_id: string | null;
}

/** Whether the request may be carried out; it is claimed then. */
export function mayBegin({ claims }: Rows, { request_id }: Claim): boolean {
  if (request_id === null) return true;
  if (claims[request_id] !== undefined) return false;
  claims[request_id] = false;
  return true;
}
