import { setTimeout } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import type { OrderView, TransactionView } from '../../src/db/order-view';
import { ServiceError } from '../../src/errors';
import type { PageContext } from './page-context';

/** How long a customer who comes back from the issuer waits for the outcome before the waiting page is shown. Milliseconds. */
const ANSWER_MS = 3_000;
const LOOK_AGAIN_MS = 100;

/**
 * Opens the page of an order, or of one of its transactions, which shows the order's present attempt (rules 6.5).
 * The issuer sends the customer back here too; what became of the payment is read from the record, never from the address.
 */
export function openPage({ services, orderOf, show }: PageContext): RequestHandler {
  return async (request, response) => {
    let order = await orderOf(request);
    const transaction_id = request.params['transaction_id'];
    if (
      transaction_id !== undefined &&
      !order.transactions.some(({ id }) => id === String(transaction_id).toLowerCase())
    ) {
      throw new ServiceError('NotFound', 'The order has no such transaction.');
    }
    const from_issuer = request.query['from'] === 'issuer';
    const last = order.transactions.at(-1);
    // The customer may have paid at the issuer, even after the order ended here.
    if (from_issuer && last !== undefined && last.challenge_url !== null && isUnpaid(last)) {
      await services.processor_notifications.customerReturned(
        { order_id: order.id, transaction_id: last.id },
        Date.now() + services.deadline_ms,
      );
      if (last.status === 'pending') order = await settled(() => orderOf(request), order);
    }
    await show(request, response, order, { after_form: from_issuer, from_issuer });
  };
}

const isUnpaid = ({ status }: TransactionView) =>
  status === 'pending' || status === 'cancelled' || status === 'expired';

/** The order once it has changed, or as it is after ANSWER_MS. */
async function settled(look: () => Promise<OrderView>, before: OrderView): Promise<OrderView> {
  const until = Date.now() + ANSWER_MS;
  let order = before;
  while (order.version === before.version && Date.now() < until) {
    await setTimeout(LOOK_AGAIN_MS);
    order = await look();
  }
  return order;
}
