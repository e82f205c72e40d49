import type { OrderRecord } from '../../src/domain/order-record';
import type { TransactionStatus } from '../../src/domain/transitions';

/** An order with attempts of these statuses, as decisions need it; each attempt ends at 800, the order at 1,000. */
export const anOrderRecord = (
  transactions: TransactionStatus[] = [],
  fields: Partial<OrderRecord> = {},
): OrderRecord => ({
  order_id: 'o',
  status: 'new',
  version: 3,
  moves: 0,
  amount: 500,
  currency: 'EUR',
  attempts_max: 5,
  order_end: 1_000,
  transactions: transactions.map((status, i) => ({ transaction_id: `t${i + 1}`, attempt: i + 1, status, end: 800 })),
  deliveries: [],
  ...fields,
});
