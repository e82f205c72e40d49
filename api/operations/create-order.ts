import type { OrderRequest } from '../../src/contract/order';
import type { TransactionRequest } from '../../src/contract/transaction';
import { findStoredOrder, type StoredOrder } from '../../src/db/orders/stored-order';
import type { Project } from '../../src/db/projects/projects';
import { isAccountFunding, requireFundingInformation, type FundingReceiver } from '../../src/domain/account-funding';
import { ATTEMPTS_MAX } from '../../src/domain/order';
import { parseDuration } from '../../src/domain/duration';
import { paymentPeriod } from '../../src/domain/payment-period';
import { ServiceError, validationError } from '../../src/errors';
import { requestedId, transactionId } from '../../src/ids';
import type { CreateOrderInput, TransactionInput } from '../../workflows/messages';
import type { MerchantContext, MerchantOperation, MerchantServices } from '../merchant';
import { presentOrder } from '../present/order';
import { checkedOnce } from '../requests/checked-once';
import { requireActive, requireProjectAccepts } from '../requests/project-rules';

/**
 * Creates an order (rules 5.1). With a card token it is charged at once and the answer holds the outcome; a declined
 * card is an answer like any other. Throws ValidationError, Forbidden, MissingInformationToCreateTransaction,
 * FailedToFetchTransactionInformation, GatewayTimeout, ServiceUnavailable; then nothing is stored or charged.
 *
 * With an Idempotency-Key the order's id derives from the key, so that a repeat can only reach the same workflow, row
 * and charge. After a 503 the request may still run; a repeat joins it and gets its result, and is refused only when
 * there is none (rules 11.6).
 *
 * With the preference `wait` the answer comes once its status has changed (rules 5.12).
 */
export const createOrder =
  (services: MerchantServices): MerchantOperation<'createOrder'> =>
  async (context, { body }) => {
    const { idempotency_key, request } = context;
    const { project } = context.caller;
    const order_id = requestedId('order', { idempotency_key, id_namespace: project.id_namespace });
    if (request.is_repeat) {
      const order = await services.orders.joinCreation(order_id, request);
      if (order !== undefined) {
        return async () => presentOrder(await waited(services, context, order), services.public_url);
      }
    }
    const { transactions, ...fields } = body;
    const [requested] = transactions ?? [];
    const transaction = await checkedOnce(request, async () => {
      requireActive(project);
      requireProjectAccepts(services, project, body);
      requireFunding(project, body);
      return requested && (await transactionOf(services, project, order_id, requested));
    });
    const charged_by = requested?.payment_method_details?.vault_token === undefined ? 'customer' : 'token';
    const expiration_period = body.expiration_period ?? project.expiration_period;
    const input: CreateOrderInput = {
      request,
      order: {
        ...fields,
        id: order_id,
        project_id: project.id,
        expiration_period,
        attempts_max: charged_by === 'token' ? 1 : ATTEMPTS_MAX,
        charged_by,
      },
      period: parseDuration(expiration_period),
      is_test: project.is_test,
      transaction,
    };
    return async () => {
      const order = await services.orders.create(input);
      return presentOrder(await waited(services, context, order), services.public_url);
    };
  };

/** The created order after the wait that its request prefers (rules 5.12). */
async function waited(services: MerchantServices, context: MerchantContext, order: StoredOrder): Promise<StoredOrder> {
  let is_read = false;
  return await services.order_waits.read(context.wait, async () => {
    if (!is_read) {
      is_read = true;
      return order;
    }
    // It is created whatever happens now: an answer that says otherwise would be wrong.
    const now = await findStoredOrder(services.db, order.id).catch((error: unknown) => {
      context.log.warn({ err: error }, 'the created order is answered as it was before the wait');
      return undefined;
    });
    return now ?? order;
  });
}

/** Throws when account funding is not enabled, not paid by card, or lacks information (rules 14.3). */
function requireFunding(project: Project, { transactions = [], customer }: OrderRequest): void {
  for (const [index, transaction] of transactions.entries()) {
    const receiver = transaction.payment_method_details;
    if (receiver === undefined || !isAccountFunding(receiver)) continue;
    if (!project.account_funding) {
      throw new ServiceError('Forbidden', 'The project is not enabled for account funding.');
    }
    if (transaction.payment_method !== 'credit-card') {
      throw validationError(`transactions.${index}.payment_method`, 'Account funding is paid by credit-card.');
    }
    requireFundingInformation(`transactions.${index}`, receiver, customer);
  }
}

async function transactionOf(
  services: MerchantServices,
  project: Project,
  order_id: string,
  request: TransactionRequest,
): Promise<TransactionInput> {
  const { capture_mode, payment_method, payment_method_details: { vault_token, ...receiver } = {} } = request;
  const { transaction_expiration_period: to_pay, capture_expiration_period: to_capture } = project;
  const aft = isAccountFunding(receiver);
  const transaction = {
    id: transactionId(order_id, 1),
    attempt: 1,
    payment_method,
    ...paymentPeriod(request, to_pay),
    ...(capture_mode && {
      capture_mode,
      capture_period: request.expiration_period ?? (capture_mode === 'manual' ? to_capture : to_pay),
    }),
    ...((aft || capture_mode) && { transaction_type: aft ? ('aft' as const) : ('authorization' as const) }),
  };
  const account = aft ? await receiverOf(services, project.id, receiver) : undefined;
  const card =
    vault_token === undefined ? undefined : await cardOf(services, project.id, { vault_token, payment_method });
  return {
    ...transaction,
    ...account,
    ...(card && { payment_method_brand: card.payment_method_brand }),
    ...((account ?? card) && {
      payment_method_details: { ...account?.payment_method_details, ...card?.payment_method_details },
    }),
  };
}

/**
 * The card of a token, which pays by the method it was made by only: a wallet, or a card that was typed (rules 6.6).
 */
async function cardOf(
  { processor }: MerchantServices,
  project_id: string,
  { vault_token, payment_method }: { vault_token: string; payment_method: string },
) {
  const path = 'transactions.0.payment_method_details.vault_token';
  const card = await processor.getVaultedCard(vault_token, project_id);
  if (card === undefined) throw validationError(path, 'The project has no such token.');
  const { brand, wallet, ...payment_method_details } = card;
  const made_by = wallet ?? 'credit-card';
  if (made_by !== payment_method) throw validationError(path, `This token pays by ${made_by} only.`);
  return { payment_method_brand: brand, payment_method_details };
}

/**
 * The account number goes into the processor's vault before anything stores it: it may be a card number (rules 14.6).
 */
async function receiverOf(
  { processor }: MerchantServices,
  project_id: string,
  { receiver_account_number = '', receiver_account_number_type }: FundingReceiver,
) {
  const account = await processor.vaultAccount({ project_id, number: receiver_account_number });
  if (!account.usable) {
    throw validationError('transactions.0.payment_method_details.receiver_account_number', account.reason);
  }
  return {
    receiver_account_token: account.account_token,
    payment_method_details: { receiver_account_number: account.truncated_number, receiver_account_number_type },
  };
}
