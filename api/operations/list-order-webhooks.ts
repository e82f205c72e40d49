import { storedDeliveriesOf } from '../../src/db/webhooks/stored-deliveries';
import { requireRequestedOrder, type MerchantOperation, type MerchantServices } from '../merchant';
import { presentDelivery } from '../present/delivery';

/** The deliveries of webhooks about an order, newest first (rules 13.12, 13.15). */
export const listOrderWebhooks =
  (services: MerchantServices): MerchantOperation<'listOrderWebhooks'> =>
  async (context, { params: { order_id }, query }) => {
    await requireRequestedOrder(services, context, order_id);
    return (await storedDeliveriesOf(services.db, order_id, query)).map(presentDelivery);
  };
