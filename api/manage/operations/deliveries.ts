import { findDeliveryView, listDeliveryViews, type DeliveryView } from '../../../src/db/delivery-views';
import { redeliver } from '../../redeliver';
import { presentDelivery } from '../../present-delivery';
import { requireOwn, type ManageOperation, type ManageServices, type Manager } from '../manager';
import { presentPage } from '../present';

/** Webhooks on their way to receivers (rules 13.12, 13.13). */
export function deliveryOperations(services: Pick<ManageServices, 'db' | 'deliveries'>) {
  const { db } = services;
  const ownDelivery = async (caller: Manager, id: string): Promise<DeliveryView> => {
    const cut = id.lastIndexOf('-');
    const view = await findDeliveryView(db, { order_id: id.slice(0, cut), n: Number(id.slice(cut + 1)) });
    return requireOwn(caller, view, ({ merchant_id }) => merchant_id, 'webhook delivery');
  };

  const operations: {
    listDeliveries: ManageOperation<'listDeliveries'>;
    getDelivery: ManageOperation<'getDelivery'>;
    redeliver: ManageOperation<'redeliver'>;
  } = {
    listDeliveries: async ({ caller }, { query: { project_id, order_id, status, since, ...page } }) => {
      const filter = { merchant_id: caller.merchant_id, project_id, order_id, status, since };
      return presentPage(await listDeliveryViews(db, filter, page), presentDelivery);
    },
    getDelivery: async ({ caller }, { params: { id } }) => presentDelivery(await ownDelivery(caller, id)),
    redeliver: async ({ caller, request_id, log }, { params: { id } }) =>
      redeliver(services, await ownDelivery(caller, id), { actor: caller.actor, request_id, log }),
  };
  return operations;
}
