import { ServiceError } from '../../src/errors';
import { KINDS } from '../../src/temporal/kinds';
import { requireRequestedOrder, type MerchantOperation, type MerchantServices } from '../merchant';
import { clockAdvanceOf, advanceInTurn } from '../requests/advance-clock';
import { presentVersion } from '../present/order';

/**
 * Advances the clock of a payment order and its follow-up orders. Returns the order (rules 23.5). Throws Forbidden for
 * live projects, Conflict for an order that uses the clock of another object, ValidationError.
 */
export const advanceOrderClock =
  (services: MerchantServices): MerchantOperation<'advanceOrderClock'> =>
  async (context, { params, body }) => {
    const order = await requireRequestedOrder(services, context, params.order_id);
    const input = clockAdvanceOf(context, body);
    if (order.clock_id !== order.id) {
      const owner = order.clock_id === order.related_order_id ? 'order' : 'payment link';
      throw new ServiceError(
        'Conflict',
        `The order uses the clock of the ${owner} ${order.clock_id}: advance that one.`,
      );
    }
    return async () => {
      const { advanced, is_unknown } = await advanceInTurn(services, context, {
        kind: KINDS.order,
        owner: order,
        input,
      });
      return { ...presentVersion(advanced, services.public_url), is_unknown };
    };
  };
