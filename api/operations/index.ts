import type { Operations } from '../context';
import type { Services } from '../services';
import { cancelOrder } from './cancel-order';
import { createOrder } from './create-order';
import { getOrder } from './get-order';
import { getProject } from './get-project';
import { listCurrencies } from './list-currencies';
import { listOrders } from './list-orders';
import { updateOrder } from './update-order';

/** Every use case of the contract: one that is missing does not compile. */
export function createOperations(services: Services): Operations {
  return {
    createOrder: createOrder(services),
    listOrders: listOrders(services),
    getOrder: getOrder(services),
    updateOrder: updateOrder(services),
    cancelOrder: cancelOrder(services),
    getProject,
    listCurrencies,
  };
}
