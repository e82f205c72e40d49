import { deliveryViewsOf } from '../../src/db/webhooks/delivery-views';
import { orderOfPath, type MerchantOperation, type Services } from '../merchant';
import { presentDelivery } from '../present/delivery';

/** The deliveries of webhooks about an order, newest first (rules 13.12, 13.15). */
export const listOrderWebhooks =
  (services: Services): MerchantOperation<'listOrderWebhooks'> =>
  async (context, { params: { order_id }, query }) => {
    await orderOfPath(services, context, order_id);
    return (await deliveryViewsOf(services.db, order_id, query)).map(presentDelivery);
  };
