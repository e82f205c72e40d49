/** What names the customer of an erasure: a field of the order's customer, or an order (rules 29.3). */
export const ERASURE_FIELDS = ['merchant_customer_id', 'email_address', 'order_id'] as const;
export type ErasureField = (typeof ERASURE_FIELDS)[number];
