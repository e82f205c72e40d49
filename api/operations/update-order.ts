import type { OrderView } from '../../src/db/order-view';
import { updateOrder as writeChanges } from '../../src/db/update-order';
import { ORDER_MOVES, isFinal } from '../../src/domain/transitions';
import { ServiceError, invalid, preconditionFailed } from '../../src/errors';
import type { Input } from '../../src/contract/routes';
import type { Operation } from '../context';
import { orderOfProject } from '../order-of-project';
import { presentVersion } from '../present';
import type { Services } from '../services';
import { allowedVersions, requireVersion } from '../http/etag';
import { requirePublicWebhook } from '../webhook-url';

/** Changes fields of an order that is not final (rules 5.5). Throws Conflict when it is final, ValidationError for another amount or currency. */
export const updateOrder =
  (services: Services): Operation<'updateOrder'> =>
  async (context, { params, body }) => {
    const { amount, currency, ...changes } = body;
    const order = await orderOfProject(services, context, params.order_id);
    requireVersion(context, order.version);
    refuseFinal(order);
    refuseOther(order, { amount, currency });
    requirePublicWebhook(services, context.project, changes.webhook_url);
    if (Object.keys(changes).length === 0) return presentVersion(order, services.public_url);
    const versions = allowedVersions(context);
    const updated = await writeChanges(services.db, order.id, changes, { versions, now: Date.now() });
    const present = await orderOfProject(services, context, order.id);
    if (updated) return presentVersion(present, services.public_url);
    // The order changed after it was read, so the statement's guard refused: find out why.
    refuseFinal(present);
    throw preconditionFailed();
  };

function refuseFinal({ status }: OrderView): void {
  if (isFinal(ORDER_MOVES, status)) {
    throw new ServiceError('Conflict', `The order is ${status} and cannot change any more.`);
  }
}

/** Clients send the whole order back, so an unchanged amount or currency is accepted. */
function refuseOther(
  order: OrderView,
  { amount, currency }: Pick<Input<'updateOrder'>['body'], 'amount' | 'currency'>,
): void {
  if (amount !== undefined && amount !== order.amount) throw invalid('amount', 'The amount of an order cannot change.');
  if (currency !== undefined && currency !== order.currency) {
    throw invalid('currency', 'The currency of an order cannot change.');
  }
}
