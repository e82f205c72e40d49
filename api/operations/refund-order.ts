import type { Operation } from '../context';
import { requestFollowUp } from '../request-follow-up';
import { orderOfProject } from '../order-of-project';
import { ServiceError } from '../../src/errors';
import type { Services } from '../services';

/** Gives captured money back (rules 9.8). Returns the refund order; throws RefundError, on follow-up orders too. */
export const refundOrder =
  (services: Services): Operation<'refundOrder'> =>
  async (context, { params, body }) => {
    const order = await orderOfProject(services, context, params.order_id);
    if (order.kind !== 'payment') {
      throw new ServiceError(
        'RefundError',
        `A ${order.kind} order cannot be refunded: refund the payment order ${order.related_order_id}.`,
      );
    }
    const paid = order.transactions.find(({ status }) => status === 'accepted') ?? order.transactions.at(-1);
    if (paid === undefined) throw new ServiceError('RefundError', `Nothing was paid: the order is ${order.status}.`);
    return await requestFollowUp(services, context, order, paid, { kind: 'refund', ...body });
  };
