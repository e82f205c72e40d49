import { isDeepStrictEqual } from 'node:util';
import type { Input } from '../../src/contract/routes';
import type { MerchantRoutes } from '../../src/contract/merchant-api';
import { findStoredOrder, type StoredOrder } from '../../src/db/orders/stored-order';
import { recordOrderUpdate as writeChanges } from '../../src/db/orders/update-order';
import { requireFundingInformation } from '../../src/domain/account-funding';
import { ORDER_MOVES, isFinal } from '../../src/domain/transitions';
import { ServiceError, validationError, preconditionFailed } from '../../src/errors';
import { currentTimeOf } from '../../src/time';
import { requireRequestedOrder, type MerchantOperation, type MerchantServices } from '../merchant';
import { presentVersion } from '../present/order';
import { requireProjectAccepts } from '../requests/project-rules';
import { omitNull } from '../present/format';

/**
 * Changes fields of an order that is not final (rules 5.5). Throws Conflict when it is final, ValidationError for
 * another amount or currency, and the refusals of requireFundingInformation.
 */
export const updateOrder =
  (services: MerchantServices): MerchantOperation<'updateOrder'> =>
  async (context, { params, body }) => {
    const { amount, currency, ...changes } = body;
    const order = await requireRequestedOrder(services, context, params.order_id);
    refuseFinal(order);
    refuseOther(order, { amount, currency });
    // An order keeps the address that it has, also where a new one may not have it.
    const webhook_url = changes.webhook_url === order.webhook_url ? undefined : changes.webhook_url;
    requireProjectAccepts(services, context.caller.project, { webhook_url });
    requireFundingCustomer(order, changes.customer);
    if (!changesSomething(order, changes)) {
      return () => Promise.resolve(presentVersion(order, services.public_url));
    }
    return {
      db: services.db,
      async write(trx) {
        const { versions } = context.request;
        const updated = await writeChanges(trx, order.id, changes, { versions, now: currentTimeOf(order) });
        const current = (await findStoredOrder(trx, order.id)) ?? order;
        if (updated) return presentVersion(current, services.public_url);
        // The order changed after it was read, so the statement's guard refused: find out why.
        refuseFinal(current);
        throw preconditionFailed();
      },
    };
  };

/** Clients send the whole order back: what is as it was is no change. `null` clears a field. */
function changesSomething(order: StoredOrder, changes: Omit<Changes, 'amount' | 'currency'>): boolean {
  const [before, after] = [order, changes].map(withShownCustomer);
  return Object.keys(changes).some((field) => !isDeepStrictEqual(after![field], before![field]));
}

/** An order shows no empty lists of its customer. */
const withShownCustomer = (fields: Pick<Changes, 'customer'>): Record<string, unknown> => ({
  ...fields,
  customer: fields.customer && omitNull(fields.customer),
});

function refuseFinal({ status }: StoredOrder): void {
  if (isFinal(ORDER_MOVES, status)) {
    throw new ServiceError('Conflict', `The order is ${status} and cannot change any more.`);
  }
}

type Changes = Input<MerchantRoutes['updateOrder']>['body'];

/**
 * Account funding is paid with the customer that the order has then, so a new one has to meet the same rules (rules
 * 14.7).
 */
function requireFundingCustomer({ transactions }: StoredOrder, customer: Changes['customer']): void {
  const [transaction] = transactions;
  if (customer === undefined || transaction?.transaction_type !== 'aft') return;
  requireFundingInformation('transactions.0', transaction.payment_method_details ?? {}, customer ?? {});
}

/** Clients send the whole order back, so an unchanged amount or currency is accepted. */
function refuseOther(order: StoredOrder, { amount, currency }: Pick<Changes, 'amount' | 'currency'>): void {
  if (amount !== undefined && amount !== order.amount) {
    throw validationError('amount', 'The amount of an order cannot change.');
  }
  if (currency !== undefined && currency !== order.currency) {
    throw validationError('currency', 'The currency of an order cannot change.');
  }
}
