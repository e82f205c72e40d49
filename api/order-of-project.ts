import { findOrderView, type OrderView } from '../src/db/order-view';
import { ServiceError } from '../src/errors';
import type { Context } from './context';
import type { Services } from './services';

/** The order, if it belongs to the API key's project. Throws NotFound, or Unauthorized for an order of another project. */
export async function orderOfProject(
  { db }: Pick<Services, 'db'>,
  { project }: Context,
  order_id: string,
): Promise<OrderView> {
  const order = await findOrderView(db, order_id);
  if (order === undefined) throw new ServiceError('NotFound', 'The order does not exist.');
  if (order.project_id !== project.id) throw new ServiceError('Unauthorized', 'The API key is of another project.');
  return order;
}
