import { findStoredDelivery } from '../../src/db/webhooks/stored-deliveries';
import { ServiceError } from '../../src/errors';
import { requireRequestedOrder, type MerchantOperation, type MerchantServices } from '../merchant';
import { authorOf } from '../requests/author';
import { redeliver } from '../requests/redeliver';

/**
 * Sends a webhook of an order once more (rules 13.13). Throws NotFound, and Unauthorized for an order of another
 * project.
 */
export const redeliverOrderWebhook =
  (services: MerchantServices): MerchantOperation<'redeliverOrderWebhook'> =>
  async (context, { params: { order_id, n } }) => {
    await requireRequestedOrder(services, context, order_id);
    const delivery = await findStoredDelivery(services.db, { order_id, n: Number(n) });
    if (delivery === undefined) throw new ServiceError('NotFound', 'The webhook does not exist.');
    return redeliver(services, delivery, authorOf(context));
  };
