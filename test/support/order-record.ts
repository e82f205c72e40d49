import type { OrderRecord } from '../../src/domain/order-record';
import type { TransactionStatus } from '../../src/domain/transitions';

/** An order with attempts of these statuses, as decisions need it; each attempt ends at 800, the order at 1,000. */
export const anOrderRecord = (
  transactions: TransactionStatus[] = [],
  fields: Partial<OrderRecord> = {},
): OrderRecord => ({
  id: 'o',
  project_id: 'p',
  status: 'new',
  version: 3,
  amount: 500,
  currency: 'EUR',
  attempts_max: 5,
  charged_by: 'customer',
  expires_at: 1_000,
  clock_offset_ms: 0,
  transactions: transactions.map((status, i) => ({ id: `t${i + 1}`, attempt: i + 1, status, expires_at: 800 })),
  deliveries: [],
  ...fields,
});
