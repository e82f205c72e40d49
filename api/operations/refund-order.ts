import { ServiceError } from '../../src/errors';
import { requireRequestedOrder, type MerchantOperation, type MerchantServices } from '../merchant';
import { requestFollowUp } from '../requests/request-follow-up';

/** Gives captured money back (rules 9.8). Returns the refund order; throws RefundError, on follow-up orders too. */
export const refundOrder =
  (services: MerchantServices): MerchantOperation<'refundOrder'> =>
  async (context, { params, body }) => {
    const order = await requireRequestedOrder(services, context, params.order_id);
    if (order.kind !== 'payment') {
      throw new ServiceError(
        'RefundError',
        `A ${order.kind} order cannot be refunded: refund the payment order ${order.related_order_id}.`,
      );
    }
    const paid = order.transactions.find(({ status }) => status === 'accepted') ?? order.transactions.at(-1);
    if (paid === undefined) throw new ServiceError('RefundError', `Nothing was paid: the order is ${order.status}.`);
    return requestFollowUp(services, context, order, paid, { kind: 'refund', ...body });
  };
