import type { WebhookRecoveryRequest } from '../../src/domain/webhook-recovery';
import { requireRequestedRecovery, type MerchantOperation } from '../merchant';
import { authorOf } from '../requests/author';
import {
  changeWebhookRecovery,
  startWebhookRecovery,
  type WebhookRecoveryServices,
} from '../requests/webhook-recovery';

/** Sends failed webhooks of the project again (rules 13.16). Throws ValidationError and Conflict. */
export const recoverWebhooks =
  (services: WebhookRecoveryServices): MerchantOperation<'recoverWebhooks'> =>
  async (context, { body }) =>
    startWebhookRecovery(services, context.caller.project.id, body, authorOf(context));

/** The operation that pauses, resumes or stops a recovery of the project. */
export const changeRequestedRecovery =
  (request: WebhookRecoveryRequest) =>
  (
    services: WebhookRecoveryServices,
  ): MerchantOperation<'pauseWebhookRecovery' | 'resumeWebhookRecovery' | 'stopWebhookRecovery'> =>
  async (context, { params: { recovery_id } }) => {
    const recovery = await requireRequestedRecovery(services, context, recovery_id);
    return changeWebhookRecovery(services, recovery, request, authorOf(context));
  };
