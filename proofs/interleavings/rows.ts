import type { Reservation } from '../../src/domain/amounts';
import type { OrderStatus, TransactionStatus } from '../../src/domain/transitions';

/** The tables of the record in memory: the columns that the statements of orders read. */

export interface OrderRow {
  id: string;
  project_id: string;
  kind: string;
  requested_by: string | null;
  related_order_id: string | null;
  status: OrderStatus;
  version: number;
  amount: number;
  currency: string;
  attempts_max: number;
  charged_by: string | null;
  ended: string | null;
  expires_at: string | null;
  attention: string | null;
}

export type TransactionRow = Reservation & {
  id: string;
  order_id: string;
  attempt: number;
  original_transaction_id: string | null;
  currency: string;
  payment_method: string;
  payment_method_details: object | null;
  charge_began: boolean;
  status: TransactionStatus;
  capture_period: string | null;
  capture_ends_at: string | null;
  expires_at: string | null;
  poll_at: string | null;
  polls: number;
  answered_amount: number | null;
  answered_currency: string | null;
  refunded_amount: number;
  charged_back_amount: number;
  won_back_amount: number;
  refund_pending_amount: number;
};

export interface SandboxRows {
  orders: Record<string, OrderRow>;
  transactions: Record<string, TransactionRow>;
  events: { transaction_id: string; event: string; source: string; noticed: string }[];
  deliveries: { order_id: string; n: number; status: string }[];
  watches: Record<string, { transaction_id: string; poll_at: string; polls: number; began: string }>;
  claims: Record<string, boolean>;
}
