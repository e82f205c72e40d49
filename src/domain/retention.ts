/**
 * How many days the service keeps rows, or the column of a row, that are not part of the record of payments (rules 29).
 * Each but `request_claims` and `webhook_events` has a variable `RETENTION_…_DAYS` with this default.
 */
export const RETENTION_DAYS = {
  /** Requests older than a day are never carried out (rules 10.5). */
  request_claims: 1,
  logged_requests: 30,
  receiver_checks: 30,
  /** Events for listeners (rules 13.20). */
  webhook_events: 7,
  idempotency_answers: 30,
  webhook_attempts: 90,
} as const;

/** What is kept for some days only. */
export type Retained = keyof typeof RETENTION_DAYS;
/** Days of each. */
export type RetentionDays = Readonly<Record<Retained, number>>;
export const RETAINED = Object.keys(RETENTION_DAYS) as Retained[];

/** What names the customer of an erasure: a field of the order's customer, or an order (rules 29.3). */
export const ERASURE_FIELDS = ['merchant_customer_id', 'email_address', 'order_id'] as const;
export type ErasureField = (typeof ERASURE_FIELDS)[number];
