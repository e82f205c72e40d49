import { transactionExpiresAt } from '../src/domain/order';
import { insertOrder } from '../src/db/insert-order';
import { findOrder } from '../src/db/order-record';
import type { OrderRecord } from '../src/domain/order-record';
import type { NewTransaction } from '../src/domain/new-order';
import type { CreateOrderInput, TransactionInput } from '../workflows/messages';
import { withFailures } from './failure';
import type { AtTime, Services } from './services';

/** Writes orders to Postgres and reads them. */
export function recordActivities(services: Pick<Services, 'db'>) {
  return withFailures({
    /** Writes a new order. Throws ServiceUnavailable when it does not exist and `not_after` has passed. */
    createOrder: (input: CreateOrderInput & AtTime): Promise<OrderRecord> => writeOrder(services, input),

    /** The recorded order, or null; for a workflow that does not know the order or is behind the record. */
    findOrder: async ({ order_id }: { order_id: string }): Promise<OrderRecord | null> =>
      (await findOrder(services.db, order_id)) ?? null,
  });
}

/** The insert behind createOrder and createAndCharge; repeat-safe. */
export async function writeOrder({ db }: Pick<Services, 'db'>, input: CreateOrderInput & AtTime): Promise<OrderRecord> {
  const { order, transaction, period, now } = input;
  const expires_at = now + period;
  const transaction_expires_at = transactionExpiresAt({
    order_expires_at: expires_at,
    created: now,
    period: transaction?.period ?? period,
  });
  return await insertOrder(db, order, transaction && rowOf(transaction), {
    created: now,
    expires_at,
    transaction_expires_at,
    not_after: input.not_after,
  });
}

/** The transaction without its period: the row holds expires_at instead. */
export function rowOf(transaction: TransactionInput): NewTransaction {
  const { period: _, ...row } = transaction;
  return row;
}
