import { parseDuration } from '../../src/domain/duration';
import { orderId } from '../../src/ids';
import type { MerchantOperation, Services } from '../merchant';
import { presentPaymentLink } from '../present-payment-link';
import { requireActive, requireProjectAccepts } from '../project-rules';

/** How long a link can be paid that names no period (rules 19.2). */
const DEFAULT_PERIOD = 'P30D';

/**
 * Creates a payment link (rules 19.1). Throws ValidationError and ServiceUnavailable; then nothing is stored. With an
 * Idempotency-Key the link's id derives from the key, so that a repeat can only reach the same workflow and row.
 */
export const createPaymentLink =
  (services: Services): MerchantOperation<'createPaymentLink'> =>
  async (context, { body }) => {
    const { idempotency_key, deadline_at, awaited } = context;
    const { project } = context.caller;
    const id = orderId('paymentlink', { idempotency_key, id_namespace: project.id_namespace });
    // A repeat is not checked again: its first run has passed the checks and may be under way (rules 11.6).
    if (!context.is_repeat) {
      requireActive(project);
      requireProjectAccepts(services, project, body);
    }
    const expiration_period = body.expiration_period ?? DEFAULT_PERIOD;
    const payment_link = { ...body, id, project_id: project.id, expiration_period };
    const input = { payment_link, period: parseDuration(expiration_period), ...awaited };
    return async () => presentPaymentLink(await services.payment_links.create(input, deadline_at), services.public_url);
  };
