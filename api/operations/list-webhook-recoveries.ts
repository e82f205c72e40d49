import { listWebhookRecoveries as listStored } from '../../src/db/webhooks/recoveries';
import type { MerchantOperation, MerchantServices } from '../merchant';
import { presentWebhookRecoveries } from '../requests/webhook-recovery';

/** The recoveries of the project, newest first (rules 13.18). */
export const listWebhookRecoveries =
  ({ bulk }: Pick<MerchantServices, 'bulk'>): MerchantOperation<'listWebhookRecoveries'> =>
  async ({ caller, signal }, { query }) => {
    const { id: project_id } = caller.project;
    return await bulk.read(
      project_id,
      async (db) => presentWebhookRecoveries(db, await listStored(db, { project_id }, query)),
      signal,
    );
  };
