import type { OrderStatus } from '../../domain/transitions';
import { prepared, type Database } from '../query';

/** An order and the status that a waiting request knows it with. */
export interface KnownOrder {
  id: string;
  status: OrderStatus;
}

const findChanged = prepared<KnownOrder>(
  'changed orders',
  `select distinct orders.id, orders.status
   from unnest(:ids::uuid[], :statuses::text[]) known (id, status) join orders on orders.id = known.id
   where orders.status <> known.status`,
);

/** Those of the orders whose status is another one now, with it. One statement, whatever their number. */
export async function findChangedOrders(db: Database, known: readonly KnownOrder[]): Promise<KnownOrder[]> {
  return await findChanged(db, { ids: known.map(({ id }) => id), statuses: known.map(({ status }) => status) });
}
