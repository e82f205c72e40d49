import { mayCancel } from '../../src/domain/order';
import { ServiceError } from '../../src/errors';
import type { Operation } from '../context';
import { orderOfProject } from '../order-of-project';
import { presentVersion } from '../present';
import type { Services } from '../services';
import { allowedVersions, requireVersion } from '../http/etag';

/**
 * Cancels an order that is not final; a repeat gets the same answer (rules 5.7). Throws CanNotCancelTransaction,
 * and PreconditionFailed when If-Match does not allow the order's version.
 */
export const cancelOrder =
  (services: Services): Operation<'cancelOrder'> =>
  async (context, { params }) => {
    const order = await orderOfProject(services, context, params.order_id);
    requireVersion(context, order.version);
    if (order.kind !== 'payment') {
      throw new ServiceError('CanNotCancelTransaction', `A ${order.kind} order cannot be cancelled.`);
    }
    if (order.status === 'cancelled') return presentVersion(order, services.public_url);
    if (!mayCancel(order.status, order.transactions.at(-1)?.status)) {
      throw new ServiceError('CanNotCancelTransaction', `The order is ${order.status} and cannot be cancelled.`);
    }
    const cancelled = await services.orders.cancel(
      order.id,
      { source: 'merchant', versions: allowedVersions(context) },
      context.deadline_at,
    );
    return presentVersion(cancelled, services.public_url);
  };
