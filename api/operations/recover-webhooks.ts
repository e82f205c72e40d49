import type { MerchantContext, MerchantOperation } from '../merchant';
import { startWebhookRecovery, type WebhookRecoveryServices } from '../requests/webhook-recovery';

/** Sends failed webhooks of the project again (rules 13.16). Throws ValidationError and Conflict. */
export const recoverWebhooks =
  (services: WebhookRecoveryServices): MerchantOperation<'recoverWebhooks'> =>
  async (context, { body }) =>
    startWebhookRecovery(services, context.caller.project.id, body, requestedBy(context));

/** The API key as the author of a change. */
export function requestedBy({ caller, request, log }: Pick<MerchantContext, 'caller' | 'request' | 'log'>) {
  return { actor: { kind: 'api_key' as const, id: caller.api_key_id }, request_id: request.request_id, log };
}
