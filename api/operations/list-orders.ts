import { listOrderViews } from '../../src/db/order-view';
import { listPeriod } from '../../src/domain/period';
import { invalid } from '../../src/errors';
import { clock } from '../clock';
import type { MerchantOperation, Services } from '../merchant';
import { presentOrder } from '../present';

/** Most orders in one list (rules 5.8). */
export const LIST_ORDERS_MAX = 10_000;

/** The orders of the project that were created in a period, newest first. Throws a ValidationError that names the parameter. */
export const listOrders =
  ({ db, public_url }: Pick<Services, 'db' | 'public_url'>): MerchantOperation<'listOrders'> =>
  async ({ caller: { project } }, { query }) => {
    const period = listPeriod({ ...query, now: clock.now() });
    if ('problem' in period) throw invalid(period.parameter, period.problem);
    const orders = await listOrderViews(db, project.id, period, LIST_ORDERS_MAX);
    return orders.map((order) => presentOrder(order, public_url));
  };
