import { requireRequestedRecovery, type MerchantOperation, type MerchantServices } from '../merchant';
import { presentWebhookRecovery } from '../requests/webhook-recovery';

/** A recovery with its progress (rules 13.18). Throws NotFound, and Unauthorized for one of another project. */
export const getWebhookRecovery =
  (services: Pick<MerchantServices, 'db' | 'bulk'>): MerchantOperation<'getWebhookRecovery'> =>
  async (context, { params: { recovery_id } }) => {
    const recovery = await requireRequestedRecovery(services, context, recovery_id);
    return await services.bulk.read(recovery.project_id, (db) => presentWebhookRecovery(db, recovery), context.signal);
  };
