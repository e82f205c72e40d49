import type { CaptureMode } from './amounts';

/** What is known of the card, wallet or account, outside any vault; never a card number. */
export type PaymentMethodDetails = { vault_token?: string } & Record<string, unknown>;

/** An order to be written, its fields named as on the wire; absent fields are left out. When it begins and ends is told beside it. */
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

/** A payment attempt to be written beside its order, whose amount and currency it has. */
export interface NewTransaction {
  id: string;
  attempt: number;
  payment_method: string;
  payment_method_brand?: string | undefined;
  payment_method_details?: PaymentMethodDetails | undefined;
  /** As it is shown; once an authorization is accepted, its capture_period instead. ISO 8601. */
  expiration_period: string;
  transaction_type?: 'authorization' | 'aft' | undefined;
  capture_mode?: CaptureMode | undefined;
  /** From acceptance to the end of the capture window, ISO 8601; with capture_mode. */
  capture_period?: string | undefined;
  /** Account funding: where the money goes, as the processor's vault names it. */
  receiver_account_token?: string | undefined;
}
