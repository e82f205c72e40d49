import { paymentLinkOfPath, type MerchantOperation, type MerchantServices } from '../merchant';
import { clockAdvanceOf, advanceInTurn } from '../requests/advance-clock';
import { presentLinkVersion } from '../present/payment-link';

/**
 * Advances the clock of a payment link, its orders, their follow-up orders and webhooks. Returns the link (rules 23.5).
 * Throws Forbidden for live projects, ValidationError.
 */
export const movePaymentLinkClock =
  (services: MerchantServices): MerchantOperation<'movePaymentLinkClock'> =>
  async (context, { params, body }) => {
    const link = await paymentLinkOfPath(services, context, params.payment_link_id);
    const move = clockAdvanceOf(context, body);
    return async () => {
      const moved = await advanceInTurn(context, () =>
        services.sandbox_clocks.movePaymentLink(link, move, context.request),
      );
      return presentLinkVersion(moved, services.public_url);
    };
  };
