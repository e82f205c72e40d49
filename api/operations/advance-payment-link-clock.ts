import { KINDS } from '../../src/temporal/kinds';
import { requireRequestedPaymentLink, type MerchantOperation, type MerchantServices } from '../merchant';
import { clockAdvanceOf, advanceInTurn } from '../requests/advance-clock';
import { presentLinkVersion } from '../present/payment-link';

/**
 * Advances the clock of a payment link, its orders, their follow-up orders and webhooks. Returns the link (rules 23.5).
 * Throws Forbidden for live projects, ValidationError.
 */
export const advancePaymentLinkClock =
  (services: MerchantServices): MerchantOperation<'advancePaymentLinkClock'> =>
  async (context, { params, body }) => {
    const link = await requireRequestedPaymentLink(services, context, params.payment_link_id);
    const input = clockAdvanceOf(context, body);
    return async () => {
      const clock = { kind: KINDS.payment_link, owner: link, input };
      const { advanced, is_unknown } = await advanceInTurn(services, context, clock);
      return { ...presentLinkVersion(advanced, services.public_url), is_unknown };
    };
  };
