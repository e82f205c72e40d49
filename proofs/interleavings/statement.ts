import { NO_AMOUNTS } from '../../test/support/domain';
import type { SandboxRows } from './rows';

/** A statement of src/db/orders, as the model carries it out. */
export interface Statement {
  name: string;
  /** Its name, where it is prepared, or the beginning of its text. */
  is: RegExp;
  run: (bindings: never) => unknown[];
}

export const NEW_TRANSACTION = {
  ...NO_AMOUNTS,
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
export function mayBegin({ claims }: SandboxRows, { request_id }: Claim): boolean {
  if (request_id === null) return true;
  if (claims[request_id] !== undefined) return false;
  claims[request_id] = false;
  return true;
}
