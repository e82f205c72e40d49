import { parseDuration } from '../../src/domain/duration';
import { requestedId } from '../../src/ids';
import { checkedOnce } from '../requests/checked-once';
import type { MerchantOperation, MerchantServices } from '../merchant';
import { presentPaymentLink } from '../present/payment-link';
import { requireActive, requireProjectAccepts } from '../requests/project-rules';

/** How long a link can be paid that names no period (rules 19.2). */
const DEFAULT_PERIOD = 'P30D';

/**
 * Creates a payment link (rules 19.1). Throws ValidationError and ServiceUnavailable; then nothing is stored. With an
 * Idempotency-Key the link's id derives from the key, so that a repeat can only reach the same workflow and row.
 */
export const createPaymentLink =
  (services: MerchantServices): MerchantOperation<'createPaymentLink'> =>
  async (context, { body }) => {
    const { idempotency_key, request } = context;
    const { project } = context.caller;
    const id = requestedId('paymentlink', { idempotency_key, id_namespace: project.id_namespace });
    if (request.is_repeat) {
      const made = await services.payment_links.joinCreation(id, request);
      if (made !== undefined) return () => Promise.resolve(presentPaymentLink(made, services.public_url));
    }
    await checkedOnce(request, async () => {
      requireActive(project);
      requireProjectAccepts(services, project, body);
    });
    const expiration_period = body.expiration_period ?? DEFAULT_PERIOD;
    const payment_link = { ...body, id, project_id: project.id, expiration_period };
    const input = { request, payment_link, period: parseDuration(expiration_period) };
    return async () => presentPaymentLink(await services.payment_links.create(input), services.public_url);
  };
