import { amountDetails } from '../../src/domain/amounts';
import { findOrderView, moneyOf, type OrderView } from '../../src/db/order-view';
import { ServiceError } from '../../src/errors';
import type { Context, Operation } from '../context';
import { presentOrder } from '../present';
import type { Services } from '../services';

/** The order with all its transactions, and the parts that `fields` asks for (specification, Get an order). */
export const getOrder =
  (services: Services): Operation<'getOrder'> =>
  async (context, { params, query }) => {
    const order = await orderOfProject(services, context, params.order_id);
    const fields = [...(query['fields[]'] ?? []), ...(query.fields ?? [])];
    const body = {
      ...presentOrder(order, services.public_url),
      ...(fields.includes('amount_details') && { amount_details: amountDetails(order.kind === 'payment' ? order.transactions.map(moneyOf) : [], Date.now()) }),
    };
    return { body, version: order.version };
  };

/** The order, when it belongs to the project of the key. Throws NotFound, or Unauthorized for an order of another project. */
export async function orderOfProject({ db }: Pick<Services, 'db'>, { project }: Context, order_id: string): Promise<OrderView> {
  const order = await findOrderView(db, order_id);
  if (order === undefined) throw new ServiceError('NotFound', 'The order does not exist.');
  if (order.project_id !== project.id) throw new ServiceError('Unauthorized', 'The API key is of another project.');
  return order;
}
