import { canNotCancel, mayCancel } from '../../src/domain/order';
import { ServiceError } from '../../src/errors';
import { requestedId } from '../../src/ids';
import { requireRequestedOrder, type MerchantOperation, type MerchantServices } from '../merchant';
import { presentVersion } from '../present/order';

/**
 * Cancels an order that is not final; a repeat gets the same answer (rules 5.7). When the deadline
 * passes first, the answer is the order as it is (rules 10.4). Throws CanNotCancelTransaction, PreconditionFailed when
 * If-Match does not allow the order's version, and ServiceUnavailable while the processor does not say whether it is
 * paid (rules 10.10).
 */
export const cancelOrder =
  (services: MerchantServices): MerchantOperation<'cancelOrder'> =>
  async (context, { params }) => {
    const order = await requireRequestedOrder(services, context, params.order_id);
    if (order.kind !== 'payment') {
      throw new ServiceError('CanNotCancelTransaction', `A ${order.kind} order cannot be cancelled.`);
    }
    if (order.status !== 'cancelled' && !mayCancel(order.status, order.transactions.at(-1)?.status)) {
      throw canNotCancel(order.status);
    }
    const { request, idempotency_key, caller } = context;
    const update_id = requestedId('cancel', { idempotency_key, id_namespace: caller.project.id_namespace });
    return async () => {
      const cancelled =
        order.status === 'cancelled'
          ? order
          : await services.orders.cancel(order.id, { source: 'merchant', request }, update_id);
      return {
        ...presentVersion(cancelled, services.public_url),
        is_unknown: cancelled.status !== 'cancelled',
      };
    };
  };
