import { findStoredProject } from '../../../src/db/projects/projects';
import {
  findWebhookRecovery,
  listWebhookRecoveries,
  type StoredWebhookRecovery,
} from '../../../src/db/webhooks/recoveries';
import type { WebhookRecoveryRequest } from '../../../src/domain/webhook-recovery';
import {
  changeWebhookRecovery,
  presentWebhookRecoveries,
  presentWebhookRecovery,
  startWebhookRecovery,
} from '../../requests/webhook-recovery';
import {
  requireOwn,
  type ManageContext,
  type ManageOperation,
  type ManageOperations,
  type ManageServices,
  type Manager,
} from '../manager';

/** Recoveries of the webhooks of projects (rules 13.16 to 13.18). */
export function webhookRecoveryOperations(services: Pick<ManageServices, 'db' | 'webhook_recoveries'>) {
  const { db } = services;
  const own = async (caller: Manager, recovery_id: string): Promise<StoredWebhookRecovery> =>
    requireOwn(caller, await findWebhookRecovery(db, recovery_id), ({ merchant_id }) => merchant_id, 'recovery');
  const requestedBy = ({ caller, request, log }: ManageContext) => ({
    actor: caller.actor,
    request_id: request.request_id,
    log,
  });
  const requested =
    (
      request: WebhookRecoveryRequest,
    ): ManageOperation<'pauseWebhookRecovery' | 'resumeWebhookRecovery' | 'stopWebhookRecovery'> =>
    async (context, { params: { recovery_id } }) =>
      changeWebhookRecovery(services, await own(context.caller, recovery_id), request, requestedBy(context));

  return {
    recoverWebhooks: async (context, { body: { project_id, ...time } }) => {
      const project = await findStoredProject(db, project_id);
      requireOwn(context.caller, project, ({ merchant_id }) => merchant_id, 'project');
      return startWebhookRecovery(services, project_id, time, requestedBy(context));
    },
    listWebhookRecoveries: async ({ caller: { merchant_id } }, { query: { project_id, ...page } }) =>
      await presentWebhookRecoveries(db, await listWebhookRecoveries(db, { merchant_id, project_id }, page)),
    getWebhookRecovery: async ({ caller }, { params: { recovery_id } }) =>
      await presentWebhookRecovery(db, await own(caller, recovery_id)),
    pauseWebhookRecovery: requested('pause'),
    resumeWebhookRecovery: requested('resume'),
    stopWebhookRecovery: requested('stop'),
  } satisfies Partial<ManageOperations>;
}
