import type { FundingReceiver } from './account-funding';
import type { CaptureMode } from './amounts';
import type { ChargedBy } from './order';

/** Facts about the card, wallet or account that are known outside the vault; never a card number. */
export type PaymentMethodDetails = { vault_token?: string } & FundingReceiver & Record<string, unknown>;

/** A new order, its fields named as on the wire. Its creation and end are passed beside it. */
export interface NewOrder {
  id: string;
  project_id: string;
  merchant_order_id?: string | undefined;
  description?: string | undefined;
  /** ISO 4217. */
  currency: string;
  /** Minor units. */
  amount: number;
  attempts_max: number;
  charged_by: ChargedBy;
  /** ISO 8601. */
  expiration_period: string;
  payment_methods?: unknown;
  return_url?: string | undefined;
  failure_url?: string | undefined;
  webhook_url?: string | undefined;
  locale?: string | undefined;
  customer?: unknown;
  client?: unknown;
  extra?: unknown;
  order_lines?: unknown;
}

/** A new payment attempt; it has its order's amount and currency. */
export interface NewTransaction {
  id: string;
  attempt: number;
  payment_method: string;
  payment_method_brand?: string | undefined;
  payment_method_details?: PaymentMethodDetails | undefined;
  /** As shown on the wire, ISO 8601; once an authorization is accepted, capture_period replaces it. */
  expiration_period: string;
  transaction_type?: 'authorization' | 'aft' | undefined;
  capture_mode?: CaptureMode | undefined;
  /** From acceptance to the end of the capture window, ISO 8601; with capture_mode. */
  capture_period?: string | undefined;
  /** Account funding: the vault token of the receiver's account. */
  receiver_account_token?: string | undefined;
}
