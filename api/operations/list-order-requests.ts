import { listLoggedRequestsOf } from '../../src/db/requests/logged-requests';
import { requireRequestedOrder, type MerchantOperation, type MerchantServices } from '../merchant';
import { presentPage } from '../present/format';
import { presentLoggedRequest } from '../present/logged-request';

/** The requests of the project about an order, newest first (rules 25.3). */
export const listOrderRequests =
  (services: Pick<MerchantServices, 'db' | 'bulk'>): MerchantOperation<'listOrderRequests'> =>
  async (context, { params: { order_id }, query: { limit, cursor, ...filter } }) => {
    const { project_id } = await requireRequestedOrder(services, context, order_id);
    return presentPage(
      await services.bulk.read(
        project_id,
        (db) => listLoggedRequestsOf(db, { project_id, order_id }, filter, { limit, cursor }),
        context.signal,
      ),
      presentLoggedRequest,
    );
  };
