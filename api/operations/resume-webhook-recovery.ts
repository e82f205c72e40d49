import { requireRequestedRecovery, type MerchantOperation } from '../merchant';
import { changeWebhookRecovery, type WebhookRecoveryServices } from '../requests/webhook-recovery';
import { requestedBy } from './recover-webhooks';

/** Resumes a recovery of the project (rules 13.18). Throws NotFound, Unauthorized for one of another project, Conflict. */
export const resumeWebhookRecovery =
  (services: WebhookRecoveryServices): MerchantOperation<'resumeWebhookRecovery'> =>
  async (context, { params: { recovery_id } }) => {
    const recovery = await requireRequestedRecovery(services, context, recovery_id);
    return changeWebhookRecovery(services, recovery, 'resume', requestedBy(context));
  };
