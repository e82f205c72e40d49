import type { RequestHandler } from 'express';
import { ServiceError } from '../../src/errors';
import type { Doors } from './doors';

/**
 * Opens the page of an order, or of one of its transactions, which shows the order's present attempt (DECISIONS, Attempts).
 * The issuer sends the customer back here too; what became of the payment is read from the record, never from the address.
 */
export function openPage({ orderOf, show }: Doors): RequestHandler {
  return async (request, response) => {
    const order = await orderOf(request);
    const transaction_id = request.params['transaction_id'];
    if (transaction_id !== undefined && !order.transactions.some(({ id }) => id === String(transaction_id).toLowerCase())) {
      throw new ServiceError('NotFound', 'The order has no such transaction.');
    }
    await show(request, response, order);
  };
}
