import { listStoredOrders } from '../../src/db/orders/stored-order';
import { listOperation } from '../large-answers/list';
import type { MerchantOperation, MerchantServices } from '../merchant';
import { presentOrder } from '../present/order';

/** The orders of the project that were created in a period, newest first (rules 5.8). */
export const listOrders = (services: Pick<MerchantServices, 'bulk' | 'public_url'>): MerchantOperation<'listOrders'> =>
  listOperation(services, listStoredOrders, (order) => presentOrder(order, services.public_url));
