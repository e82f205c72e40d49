import { amountDetails } from '../../src/domain/amounts';
import { moneyOf } from '../../src/db/order-view';
import type { Operation } from '../context';
import { orderOfProject } from '../order-of-project';
import { presentOrder } from '../present';
import type { Services } from '../services';

/** The order with all its transactions, and the parts that `fields` asks for (rules 5.4). */
export const getOrder =
  (services: Services): Operation<'getOrder'> =>
  async (context, { params, query }) => {
    const order = await orderOfProject(services, context, params.order_id);
    const fields = [...(query['fields[]'] ?? []), ...(query.fields ?? [])];
    const body = {
      ...presentOrder(order, services.public_url),
      ...(fields.includes('amount_details') && {
        amount_details: amountDetails(order.kind === 'payment' ? order.transactions.map(moneyOf) : [], Date.now()),
      }),
    };
    return { body, version: order.version };
  };
