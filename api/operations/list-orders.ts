import { listOrderViews, type OrderView } from '../../src/db/order-view';
import { listOf } from '../list';
import type { MerchantOperation, Services } from '../merchant';
import { presentOrder } from '../present';

/** The orders of the project that were created in a period, newest first (rules 5.8). */
export const listOrders = ({ db, public_url }: Pick<Services, 'db' | 'public_url'>): MerchantOperation<'listOrders'> =>
  listOf<OrderView>(
    (project_id, page) => listOrderViews(db, project_id, page),
    (order) => presentOrder(order, public_url),
  );
