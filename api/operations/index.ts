import type { Operations } from '../context';
import type { Services } from '../services';
import { cancelOrder } from './cancel-order';
import { createOrder } from './create-order';
import { getOrder } from './get-order';
import { getProject } from './get-project';
import { listCurrencies } from './list-currencies';

/** Every use case of the contract: one that is missing does not compile. */
export function createOperations(services: Services): Operations {
  return {
    createOrder: createOrder(services),
    getOrder: getOrder(services),
    cancelOrder: cancelOrder(services),
    getProject,
    listCurrencies,
  };
}
