import { requireRequestedPaymentLink, type MerchantOperation, type MerchantServices } from '../merchant';
import { presentLinkVersion } from '../present/payment-link';

/** The payment link with its status and its orders (rules 19.9). */
export const getPaymentLink =
  (services: MerchantServices): MerchantOperation<'getPaymentLink'> =>
  async (context, { params }) => {
    const link = await requireRequestedPaymentLink(services, context, params.payment_link_id);
    return presentLinkVersion(link, services.public_url);
  };
