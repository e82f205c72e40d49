import type { DeliveryAnswer } from '../../../src/contract/delivery';
import { lockDelivery, updateDelivery } from '../../../src/db/webhooks/deliveries';
import {
  findStoredDelivery,
  listStoredDeliveries,
  type StoredDelivery,
} from '../../../src/db/webhooks/stored-deliveries';
import { afterRequest, parseDeliveryId, type DeliveryRequest } from '../../../src/domain/delivery';
import { currentTimeOf } from '../../../src/time';
import type { Write } from '../../operation';
import { presentDelivery } from '../../present/delivery';
import { authorOf } from '../../requests/author';
import { redeliver } from '../../requests/redeliver';
import { tellWorkflow } from '../../requests/tell-workflow';
import { presentPage } from '../../present/format';
import {
  requireOwn,
  type ManageContext,
  type ManageOperation,
  type ManageOperations,
  type ManageServices,
  type Manager,
} from '../manager';
import { audited, changeOf } from '../../requests/audited';

/** Webhooks on their way to receivers (rules 13.10, 13.12, 13.13). */
export function deliveryOperations(services: Pick<ManageServices, 'db' | 'deliveries'>) {
  const { db } = services;
  const ownDelivery = async (caller: Manager, id: string): Promise<StoredDelivery> => {
    const view = await findStoredDelivery(db, parseDeliveryId(id));
    return requireOwn(caller, view, view?.merchant_id, 'webhook delivery');
  };
  const requested =
    (request: DeliveryRequest): ManageOperation<'deliverNow' | 'pauseDelivery' | 'resumeDelivery'> =>
    async (context, { params: { id } }) =>
      changeDelivery(services, context, await ownDelivery(context.caller, id), request);

  return {
    listDeliveries: async ({ caller }, { query: { project_id, order_id, status, since, ...page } }) => {
      const filter = { merchant_id: caller.merchant_id, project_id, order_id, status, since };
      return presentPage(await listStoredDeliveries(db, filter, page), presentDelivery);
    },
    getDelivery: async ({ caller }, { params: { id } }) => presentDelivery(await ownDelivery(caller, id)),
    redeliver: async (context, { params: { id } }) =>
      redeliver(services, await ownDelivery(context.caller, id), authorOf(context)),
    deliverNow: requested('deliver_now'),
    pauseDelivery: requested('pause'),
    resumeDelivery: requested('resume'),
  } satisfies Partial<ManageOperations>;
}

/**
 * Changes when the next attempt of a delivery is made (rules 13.10). Throws Conflict. The workflow learns of it
 * afterwards; where that fails, it reads a pause when its timer ends, and recovery signals any other change.
 */
function changeDelivery(
  services: Pick<ManageServices, 'db' | 'deliveries'>,
  context: ManageContext,
  delivery: StoredDelivery,
  request: DeliveryRequest,
): Write<DeliveryAnswer> {
  return {
    ...audited(services, authorOf(context), async (trx) => {
      await lockDelivery(trx, delivery);
      const current = (await findStoredDelivery(trx, delivery))!;
      const { status, next_attempt_at, merchant_id } = current;
      const due = next_attempt_at === null ? {} : { next_attempt_at: Date.parse(next_attempt_at) };
      await updateDelivery(trx, delivery, afterRequest({ status, ...due }, request, currentTimeOf(current)));
      const [before, after] = [presentDelivery(current), presentDelivery((await findStoredDelivery(trx, delivery))!)];
      const change = changeOf(`webhook.${request}`, { id: after.id, merchant_id }, { before, after });
      return { answer: after, change };
    }),
    async afterCommit() {
      await tellWorkflow(context.log, 'the workflow of the webhook learns of the change later', (deadline_at) =>
        services.deliveries.resume(delivery, deadline_at),
      );
    },
  };
}
