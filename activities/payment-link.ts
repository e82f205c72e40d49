import {
  recordPaymentLinkEnd as endStoredLink,
  findPaymentLinkSnapshot as findStoredLink,
  insertPaymentLink,
} from '../src/db/payment-links';
import { requireLinkMayEnd, type PaymentLinkSnapshot } from '../src/domain/payment-link';
import { preconditionFailed } from '../src/errors';
import type { CreatePaymentLinkInput } from '../workflows/messages';
import { foundOrNull } from './failure';
import type { TimeOfTry, ActivityServices } from './services';

/** Writes a new link. Throws ServiceUnavailable when it does not exist and the request came too late. */
export const writePaymentLink = async (
  { db }: ActivityServices,
  { payment_link, period, now, request }: CreatePaymentLinkInput & TimeOfTry,
) => await insertPaymentLink(db, payment_link, { created: now, expires_at: now + period, request });

/** The recorded link; null when there is none, RecordMissing for a link that `must_exist`. */
export async function readPaymentLink(
  { db }: ActivityServices,
  { payment_link_id, must_exist = false }: { payment_link_id: string; must_exist?: boolean },
): Promise<PaymentLinkSnapshot | null> {
  return foundOrNull(await findStoredLink(db, payment_link_id), must_exist, `payment link ${payment_link_id}`);
}

/** Expires a link without a payment in progress. Returns the link as it is now. */
export const expirePaymentLink = async (
  { db }: ActivityServices,
  { payment_link_id, now }: { payment_link_id: string } & TimeOfTry,
) => await endStoredLink(db, payment_link_id, { ended_by: 'time', now });

/**
 * Ends a link for its merchant. Throws Conflict while a payment is in progress and once it is paid, PreconditionFailed.
 */
export async function writePaymentLinkEnd(
  { db }: ActivityServices,
  { payment_link_id, versions, now }: { payment_link_id: string; versions?: readonly number[] | undefined } & TimeOfTry,
): Promise<PaymentLinkSnapshot> {
  const link = await endStoredLink(db, payment_link_id, { ended_by: 'merchant', now, versions });
  if (link.status === 'expired') return link;
  if (versions?.includes(link.version) === false) throw preconditionFailed();
  requireLinkMayEnd(link.status);
  throw new Error(`the guard refused to end the payment link ${payment_link_id}`);
}
