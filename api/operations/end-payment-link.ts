import { requireLinkMayEnd } from '../../src/domain/payment-link';
import { requestedId } from '../../src/ids';
import { requireRequestedPaymentLink, type MerchantOperation, type MerchantServices } from '../merchant';
import { presentLinkVersion } from '../present/payment-link';

/**
 * Ends a payment link that is not paid (rules 19.11); a repeat answers the link as it is. Throws Conflict while a
 * payment is in progress and once it is paid, and PreconditionFailed when If-Match does not allow its version.
 */
export const endPaymentLink =
  (services: MerchantServices): MerchantOperation<'endPaymentLink'> =>
  async (context, { params }) => {
    const link = await requireRequestedPaymentLink(services, context, params.payment_link_id);
    requireLinkMayEnd(link.status);
    const { request, idempotency_key, caller } = context;
    const update_id = requestedId('end', { idempotency_key, id_namespace: caller.project.id_namespace });
    return async () => {
      const ended = link.status === 'expired' ? link : await services.payment_links.end(link.id, request, update_id);
      return { ...presentLinkVersion(ended, services.public_url), is_unknown: ended.status !== 'expired' };
    };
  };
