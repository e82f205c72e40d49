import { listOrderViews } from '../../src/db/orders/order-view';
import { listOf } from '../large-answers/list';
import type { MerchantOperation, Services } from '../merchant';
import { presentOrder } from '../present/order';

/** The orders of the project that were created in a period, newest first (rules 5.8). */
export const listOrders = (services: Pick<Services, 'bulk' | 'public_url'>): MerchantOperation<'listOrders'> =>
  listOf(services, listOrderViews, (order) => presentOrder(order, services.public_url));
