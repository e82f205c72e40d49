import { moneyOf, findOrderView, type OrderView, type TransactionView } from '../src/db/order-view';
import type { Order } from '../src/contract/order';
import { amountToMove } from '../src/domain/follow-up';
import { ServiceError } from '../src/errors';
import { orderId } from '../src/ids';
import { notAfter } from '../src/temporal/call';
import type { Context } from './context';
import { orderOfProject } from './order-of-project';
import { presentOrder } from './present';
import type { Services } from './services';
import { allowedVersions, refuseOtherVersion } from './http/etag';

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
 * Captures or voids what an authorization holds; shared by all four operations. Returns the follow-up order. Throws NotFound,
 * Conflict or CanNotCancelTransaction, ValidationError on `amount`.
 */
export async function captureOrVoid(
  services: Services,
  context: Context,
  { order_id, transaction_id, ...wanted }: Wanted<'capture' | 'void'> & { order_id: string; transaction_id: string },
): Promise<Order> {
  const order = await orderOfProject(services, context, order_id);
  const transaction = order.transactions.find(({ id }) => id === transaction_id);
  if (transaction === undefined) throw new ServiceError('NotFound', 'The order has no such transaction.');
  if (order.kind !== 'payment') {
    throw new ServiceError(
      wanted.kind === 'capture' ? 'Conflict' : 'CanNotCancelTransaction',
      `A ${order.kind} order holds no money: see the payment order ${order.related_order_id}.`,
    );
  }
  return await requestFollowUp(services, context, order, transaction, wanted);
}

/**
 * Requests a follow-up order of a payment, once per request. A refusal here spares a workflow; the same rule is checked again with
 * the payment locked. Throws the refusals of amountToMove, PreconditionFailed, and what FollowUps throws.
 */
export async function requestFollowUp(
  services: Services,
  context: Context,
  order: OrderView,
  transaction: TransactionView,
  wanted: Wanted<'capture' | 'void' | 'refund'>,
): Promise<Order> {
  const { project, idempotency_key, is_repeat, deadline_at } = context;
  const { db, follow_ups, public_url } = services;
  const order_id = orderId(wanted.kind, { idempotency_key, id_namespace: project.id_namespace });
  // A repeat must not be refused because of what its first run moved.
  const is_there = is_repeat && (await findOrderView(db, order_id)) !== undefined;
  if (!is_there) refuseOtherVersion(context, order.version);
  // A ValidationError about what is left depends on state, so it is this key's answer.
  await context.claim();
  // The first run may find another state, and its decision counts.
  if (!is_repeat) amountToMove(moneyOf(transaction), { ...wanted, requested_by: 'merchant', now: Date.now() });
  const { kind, ...said } = wanted;
  const versions = is_there ? undefined : allowedVersions(context);
  const input = {
    ...said,
    id: order_id,
    project_id: project.id,
    requested_by: 'merchant' as const,
    original_order_id: order.id,
    original_transaction_id: transaction.id,
    versions,
    not_after: idempotency_key === undefined ? notAfter(deadline_at) : undefined,
  };
  const follow_up =
    kind === 'refund'
      ? await follow_ups.refund({ ...input, kind }, deadline_at)
      : await follow_ups.captureOrVoid({ ...input, kind }, deadline_at);
  return presentOrder(follow_up, public_url);
}
