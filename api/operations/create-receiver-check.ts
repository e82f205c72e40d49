import { beginReceiverCheck, completeReceiverCheck } from '../../src/db/webhooks/receiver-checks';
import { ServiceError, validationError } from '../../src/errors';
import { requestedId } from '../../src/ids';
import type { MerchantOperation, MerchantServices } from '../merchant';
import { presentReceiverCheck } from '../present/receiver-check';
import { requireActive, requireProjectAccepts } from '../requests/project-rules';
import { tellWorkflow } from '../requests/tell-workflow';

/**
 * Begins a check of the webhook receiver (rules 27.1). Throws Forbidden for a live or suspended project and for one
 * without card payments, ValidationError without an address or for one that webhooks may not be sent to, Conflict while
 * another check of the project is running.
 */
export const createReceiverCheck =
  (services: MerchantServices): MerchantOperation<'createReceiverCheck'> =>
  async ({ caller: { project }, idempotency_key, log }, { body }) => {
    if (!project.is_test) throw new ServiceError('Forbidden', 'Only receivers of test projects can be checked.');
    requireActive(project);
    if (!project.payment_methods.includes('credit-card')) {
      throw new ServiceError('Forbidden', 'The check pays orders by credit-card, which the project does not accept.');
    }
    const webhook_url = body.webhook_url ?? project.webhook_url;
    if (webhook_url === null) {
      throw validationError('webhook_url', 'Expected the address of a receiver: the project has none.');
    }
    requireProjectAccepts(services, project, { webhook_url });
    const id = requestedId('receiver-check', { idempotency_key, id_namespace: project.id_namespace });
    const { db, receiver_checks } = services;
    return {
      db,
      async write(trx) {
        const check = await beginReceiverCheck(trx, { id, project_id: project.id, webhook_url }, Date.now());
        if (check === undefined) throw new ServiceError('Conflict', 'Another check of the project is running.');
        return presentReceiverCheck(check);
      },
      async afterCommit() {
        const started = await tellWorkflow(log, 'the receiver check was not started', (deadline_at) =>
          receiver_checks.start({ check_id: id, project_id: project.id }, deadline_at),
        );
        if (!started) await completeReceiverCheck(db, { id, reason: NOT_STARTED, now: Date.now() });
      },
    };
  };

const NOT_STARTED = 'The service could not start it; try again later.';
