import { findStoredProject } from '../../../src/db/projects/projects';
import {
  findWebhookRecovery,
  listWebhookRecoveries,
  type StoredWebhookRecovery,
} from '../../../src/db/webhooks/recoveries';
import type { WebhookRecoveryRequest } from '../../../src/domain/webhook-recovery';
import { authorOf } from '../../requests/author';
import {
  changeWebhookRecovery,
  countInTurn,
  presentWebhookRecoveries,
  presentWebhookRecovery,
  startWebhookRecovery,
} from '../../requests/webhook-recovery';
import { requireOwn, type ManageOperation, type ManageOperations, type ManageServices, type Manager } from '../manager';
import { ownProject } from './projects';

/** Recoveries of the webhooks of projects (rules 13.16 to 13.18). */
export function webhookRecoveryOperations(services: Pick<ManageServices, 'db' | 'webhook_recoveries'>) {
  const { db } = services;
  const own = async (caller: Manager, recovery_id: string): Promise<StoredWebhookRecovery> => {
    const recovery = await findWebhookRecovery(db, recovery_id);
    return requireOwn(caller, recovery, recovery?.merchant_id, 'recovery');
  };
  const requested =
    (
      request: WebhookRecoveryRequest,
    ): ManageOperation<'pauseWebhookRecovery' | 'resumeWebhookRecovery' | 'stopWebhookRecovery'> =>
    async (context, { params: { recovery_id } }) =>
      changeWebhookRecovery(services, await own(context.caller, recovery_id), request, authorOf(context));

  return {
    recoverWebhooks: async (context, { body: { project_id, ...time } }) => {
      ownProject(context.caller, await findStoredProject(db, project_id));
      return startWebhookRecovery(services, project_id, time, authorOf(context));
    },
    listWebhookRecoveries: async ({ caller: { merchant_id }, signal }, { query: { project_id, ...page } }) => {
      const found = await listWebhookRecoveries(db, { merchant_id, project_id }, page);
      return await presentWebhookRecoveries(db, found, countInTurn(signal));
    },
    getWebhookRecovery: async ({ caller, signal }, { params: { recovery_id } }) =>
      await presentWebhookRecovery(db, await own(caller, recovery_id), countInTurn(signal)),
    pauseWebhookRecovery: requested('pause'),
    resumeWebhookRecovery: requested('resume'),
    stopWebhookRecovery: requested('stop'),
  } satisfies Partial<ManageOperations>;
}
