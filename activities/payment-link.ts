import {
  recordPaymentLinkEnd as endStoredLink,
  findPaymentLinkSnapshot as findStoredLink,
  insertPaymentLink,
  loadPaymentLinkSnapshot,
  paymentLinkHasOrder,
} from '../src/db/payment-links';
import { requireLinkMayEnd, type PaymentLinkSnapshot } from '../src/domain/payment-link';
import { preconditionFailed } from '../src/errors';
import type { CreateOrderInput, CreatePaymentLinkInput, PayThroughLinkInput } from '../workflows/messages';
import { foundOrNull } from './failure';
import type { AtTime, ActivityServices } from './services';

/** Writes a new link. Throws ServiceUnavailable when it does not exist and the request came too late. */
export const writePaymentLink = async (
  { db }: ActivityServices,
  { payment_link, period, now, request }: CreatePaymentLinkInput & AtTime,
) => await insertPaymentLink(db, payment_link, { created: now, expires_at: now + period, request });

/** The recorded link; null when there is none, RecordMissing for a link that `must_exist`. */
export async function readPaymentLink(
  { db }: ActivityServices,
  { payment_link_id, must_exist = false }: { payment_link_id: string; must_exist?: boolean },
): Promise<PaymentLinkSnapshot | null> {
  return foundOrNull(await findStoredLink(db, payment_link_id), must_exist, `payment link ${payment_link_id}`);
}

/** Whether an attempt of the link has made this order. */
export const linkHasOrder = async ({ db }: ActivityServices, input: { payment_link_id: string; order_id: string }) =>
  await paymentLinkHasOrder(db, input);

/**
 * Makes the order of an attempt, which its own workflow charges at once. Returns the link after the first answer.
 * Repeat-safe: the order's id derives from the attempt. Throws the refusals of Orders.create.
 */
export async function payThroughLink(
  { db, workflows }: ActivityServices,
  input: PayThroughLinkInput & Required<Pick<CreateOrderInput, 'payment_link'>>,
): Promise<PaymentLinkSnapshot> {
  await workflows.orders.create(input);
  return await loadPaymentLinkSnapshot(db, input.payment_link!.id);
}

/** Expires a link without a payment in progress. Returns the link as it is now. */
export const expirePaymentLink = async (
  { db }: ActivityServices,
  { payment_link_id, now }: { payment_link_id: string } & AtTime,
) => await endStoredLink(db, payment_link_id, { ended_by: 'time', now });

/**
 * Ends a link for its merchant. Throws Conflict while a payment is in progress and once it is paid, PreconditionFailed.
 */
export async function writePaymentLinkEnd(
  { db }: ActivityServices,
  { payment_link_id, versions, now }: { payment_link_id: string; versions?: readonly number[] | undefined } & AtTime,
): Promise<PaymentLinkSnapshot> {
  const link = await endStoredLink(db, payment_link_id, { ended_by: 'merchant', now, versions });
  if (link.status === 'expired') return link;
  if (versions?.includes(link.version) === false) throw preconditionFailed();
  requireLinkMayEnd(link.status);
  throw new Error(`the guard refused to end the payment link ${payment_link_id}`);
}
