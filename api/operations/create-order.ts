import { v5 as uuidv5, v7 as uuidv7 } from 'uuid';
import type { OrderRequest } from '../../src/contract/order';
import type { TransactionRequest } from '../../src/contract/transaction';
import { ATTEMPTS_MAX } from '../../src/domain/order';
import { parseDuration } from '../../src/domain/duration';
import { ServiceError, invalid } from '../../src/errors';
import type { TransactionInput } from '../../workflows/messages';
import type { Context, Operation } from '../context';
import { notAfter } from '../orders';
import { presentOrder } from '../present';
import type { Services } from '../services';

/**
 * Creates an order (specification, Create an order). With a card token the charge is made at once and the answer holds
 * what became of it; a declined card is an answer like any other. Throws ValidationError, Forbidden,
 * FailedToFetchTransactionInformation, ServiceUnavailable; nothing is stored or charged then.
 *
 * With an Idempotency-Key the id of the order derives from the key, so that a repeat can only ever reach the same workflow,
 * row and charge; it may still run after the answer was 503, and the repeat gets what became of it.
 */
export const createOrder =
  (services: Services): Operation<'createOrder'> =>
  async (context, { body }) => {
    const { project, idempotency_key } = context;
    const order_id = idempotency_key === undefined ? uuidv7() : uuidv5(`order:${idempotency_key}`, project.id_namespace);
    if (context.is_repeat) {
      const order = await services.orders.findCreated(order_id, context.deadline_at);
      if (order !== undefined) return presentOrder(order, services.public_url);
    }
    refuseWhatTheProjectLacks(project, body);
    const { transactions, ...fields } = body;
    const [request] = transactions ?? [];
    const transaction = request && (await transactionOf(services, context, order_id, request));
    const charge = request?.payment_method_details?.vault_token !== undefined;
    const expiration_period = body.expiration_period ?? project.expiration_period;
    await context.claim();
    const order = await services.orders.create(
      {
        order: { ...fields, id: order_id, project_id: project.id, expiration_period, attempts_max: charge ? 1 : ATTEMPTS_MAX },
        period: parseDuration(expiration_period),
        is_test: project.is_test,
        transaction,
        charge,
        not_after: idempotency_key === undefined ? notAfter(context.deadline_at) : undefined,
      },
      context.deadline_at,
    );
    return presentOrder(order, services.public_url);
  };

/** Ids of transactions are derived: attempt n of an order has one name, whoever asks for it and however often. */
export function transactionId(order_id: string, attempt: number): string {
  return uuidv5(`transaction:${attempt}`, order_id);
}

/** Methods and currencies a project has not activated are refused before anything is stored (specification, Errors, rule 1). */
function refuseWhatTheProjectLacks(project: Context['project'], { currency, payment_methods = [], transactions = [] }: OrderRequest): void {
  if (!project.currencies.includes(currency)) throw invalid('currency', 'The project does not support this currency.');
  const inactive = payment_methods.findIndex((method) => !project.payment_methods.includes(method));
  if (inactive !== -1) throw invalid(`payment_methods.${inactive}`, 'The payment method is not active for the project or does not exist.');
  for (const [index, transaction] of transactions.entries()) {
    if (!project.payment_methods.includes(transaction.payment_method)) {
      throw invalid(`transactions.${index}.payment_method`, 'The payment method is not active for the project or does not exist.');
    }
    if (transaction.capture_mode !== undefined) {
      throw invalid(`transactions.${index}.capture_mode`, 'Authorizations are not available yet: leave it out for a sale.');
    }
    if (transaction.payment_method_details?.receiver_account_number !== undefined || transaction.payment_method_details?.receiver_account_number_type !== undefined) {
      throw new ServiceError('Forbidden', 'The project is not enabled for account funding.');
    }
  }
}

async function transactionOf({ processor }: Services, { project }: Context, order_id: string, request: TransactionRequest): Promise<TransactionInput> {
  const vault_token = request.payment_method_details?.vault_token;
  const expiration_period = request.expiration_period ?? project.transaction_expiration_period;
  const transaction = {
    id: transactionId(order_id, 1),
    attempt: 1,
    payment_method: request.payment_method,
    expiration_period,
    period: parseDuration(expiration_period),
  };
  if (vault_token === undefined) return transaction;
  const card = await processor.getVaultedCard(vault_token, project.id);
  if (card === undefined) throw invalid('transactions.0.payment_method_details.vault_token', 'The project has no such token.');
  const { brand, ...details } = card;
  return { ...transaction, payment_method_brand: brand, payment_method_details: details };
}
