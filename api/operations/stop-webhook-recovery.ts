import { requireRequestedRecovery, type MerchantOperation } from '../merchant';
import { changeWebhookRecovery, type WebhookRecoveryServices } from '../requests/webhook-recovery';
import { requestedBy } from './recover-webhooks';

/** Stops a recovery of the project (rules 13.18). Throws NotFound, Unauthorized for one of another project, Conflict. */
export const stopWebhookRecovery =
  (services: WebhookRecoveryServices): MerchantOperation<'stopWebhookRecovery'> =>
  async (context, { params: { recovery_id } }) => {
    const recovery = await requireRequestedRecovery(services, context, recovery_id);
    return changeWebhookRecovery(services, recovery, 'stop', requestedBy(context));
  };
