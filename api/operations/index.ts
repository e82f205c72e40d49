import type { Database } from '../../src/db/connection';
import type { Processor } from '../../src/processor/client';
import type { Operations } from '../context';
import type { Orders } from '../orders';
import { cancelOrder } from './cancel-order';
import { createOrder } from './create-order';
import { getOrder } from './get-order';
import { getProject } from './get-project';
import { listCurrencies } from './list-currencies';

/** What use cases reach the world with; made once by the api's main. */
export interface Services {
  db: Database;
  orders: Orders;
  processor: Processor;
  /** Address customers reach the hosted page at, without a slash at its end. */
  public_url: string;
}

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
