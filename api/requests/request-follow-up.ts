import type { Order } from '../../src/contract/order';
import { moneyOf, type StoredOrder, type StoredTransaction } from '../../src/db/orders/stored-order';
import { amountToMove } from '../../src/domain/follow-up';
import { ServiceError } from '../../src/errors';
import { requestedId } from '../../src/ids';
import { currentTimeOf } from '../../src/time';
import { requireRequestedOrder, type MerchantContext, type MerchantServices } from '../merchant';
import type { Work } from '../operation';
import { presentOrder } from '../present/order';

/** A capture, void or refund as the merchant requests it. */
interface Wanted<Kind extends 'capture' | 'void' | 'refund'> {
  kind: Kind;
  /** Minor units; absent: all that is left. */
  amount?: number | undefined;
  description?: string | undefined;
  merchant_order_id?: string | undefined;
  extra?: Record<string, unknown> | undefined;
}

/**
 * Captures or voids reserved money of an authorization; shared by all four operations. Its answer is the follow-up
 * order. Throws NotFound, Conflict or CanNotCancelTransaction, ValidationError on `amount`.
 */
export async function captureOrVoid(
  services: MerchantServices,
  context: MerchantContext,
  { order_id, transaction_id, ...wanted }: Wanted<'capture' | 'void'> & { order_id: string; transaction_id: string },
): Promise<Work<Order>> {
  const order = await requireRequestedOrder(services, context, order_id);
  const transaction = order.transactions.find(({ id }) => id === transaction_id);
  if (transaction === undefined) throw new ServiceError('NotFound', 'The order has no such transaction.');
  if (order.kind !== 'payment') {
    throw new ServiceError(
      wanted.kind === 'capture' ? 'Conflict' : 'CanNotCancelTransaction',
      `A ${order.kind} order holds no money: see the payment order ${order.related_order_id}.`,
    );
  }
  return requestFollowUp(services, context, order, transaction, wanted);
}

/**
 * Requests a follow-up order of a payment, once per request. The amount is set aside where the order is written, with
 * the payment locked; a refusal there may be a ValidationError about the remaining amount, which depends on state and
 * so becomes the answer of this key. A request that the record already rules out is refused with the same text without
 * calling a workflow. The work throws as FollowUpWorkflows does.
 */
export function requestFollowUp(
  services: MerchantServices,
  context: MerchantContext,
  order: StoredOrder,
  transaction: StoredTransaction,
  { kind, ...wanted }: Wanted<'capture' | 'void' | 'refund'>,
): Work<Order> {
  const { idempotency_key, request } = context;
  const { project } = context.caller;
  const input = {
    ...wanted,
    id: requestedId(kind, { idempotency_key, id_namespace: project.id_namespace }),
    project_id: project.id,
    requested_by: 'merchant' as const,
    original_order_id: order.id,
    clock_offset_ms: order.clock_offset_ms,
    original_transaction_id: transaction.id,
    request,
  };
  // A repeat must not be refused because of the amount that its first run moved.
  if (!request.is_repeat) {
    try {
      amountToMove(moneyOf(transaction), { ...input, kind, now: currentTimeOf(order) });
    } catch (refusal) {
      return { refusal };
    }
  }
  return async () => {
    const follow_up =
      kind === 'refund'
        ? await services.follow_ups.refund({ ...input, kind })
        : await services.follow_ups.captureOrVoid({ ...input, kind });
    return presentOrder(follow_up, services.public_url);
  };
}
