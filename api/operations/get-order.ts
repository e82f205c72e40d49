import { moneyOf } from '../../src/db/orders/stored-order';
import { amountDetails } from '../../src/domain/amounts';
import { currentTimeOf } from '../../src/time';
import { requireRequestedOrder, type MerchantOperation, type MerchantServices } from '../merchant';
import { presentOrder } from '../present/order';

/**
 * The order with all its transactions, and the parts that `fields` asks for (rules 5.4); with the preference `wait`
 * once its status has changed (rules 5.12).
 */
export const getOrder =
  (services: MerchantServices): MerchantOperation<'getOrder'> =>
  async (context, { params, query }) => {
    const order = await services.order_waits.read(context.wait, () =>
      requireRequestedOrder(services, context, params.order_id),
    );
    const fields = [...(query['fields[]'] ?? []), ...(query.fields ?? [])];
    const body = {
      ...presentOrder(order, services.public_url),
      ...(fields.includes('amount_details') && {
        amount_details: amountDetails(
          order.kind === 'payment' ? order.transactions.map(moneyOf) : [],
          currentTimeOf(order),
        ),
      }),
    };
    return { body, version: order.version };
  };
