import { ServiceError } from '../errors';
import { isExpired } from './order';
import type { OrderStatus, PaymentLinkStatus } from './transitions';

/** Maximum number of orders of a payment link, whatever their status (rules 19.5). */
export const PAYMENT_LINK_ATTEMPTS_MAX = 25;

/** Who ended a link that was not paid: its time ran out, or the merchant ended it. */
export type LinkEndedBy = 'time' | 'merchant';

/** A new payment link, its fields named as on the wire. */
export interface NewPaymentLink {
  id: string;
  project_id: string;
  merchant_order_id: string;
  /** Minor units. */
  amount: number;
  /** ISO 4217. */
  currency: string;
  description?: string | undefined;
  payment_methods?: string[] | undefined;
  /** ISO 8601. */
  expiration_period: string;
  return_url?: string | undefined;
  webhook_url?: string | undefined;
}

/** A payment link as decisions need it. Instants in epoch milliseconds. */
export interface PaymentLinkSnapshot {
  id: string;
  project_id: string;
  status: PaymentLinkStatus;
  ended_by?: LinkEndedBy;
  /** Grows with every change. */
  version: number;
  /** Orders made so far. */
  attempts: number;
  expires_at: number;
  /** How far its clock is ahead of real time, in milliseconds (rules 23.4). */
  clock_offset_ms: number;
  /** The order that was paid. */
  completed_order_id?: string;
  /** Its orders, oldest first. */
  order_ids: string[];
}

/** Why a link takes no payment attempt now. */
export type LinkObstacle = 'in_progress' | 'completed' | 'expired' | 'no_attempt_left';

/**
 * Why a link takes no payment attempt now; `undefined` when it does (rules 19.4, 19.5). `now` in epoch milliseconds.
 */
export function linkObstacle(
  { status, attempts, expires_at }: Pick<PaymentLinkSnapshot, 'status' | 'attempts' | 'expires_at'>,
  now: number,
): LinkObstacle | undefined {
  if (status === 'completed' || status === 'expired') return status;
  if (status === 'processing') return 'in_progress';
  if (isExpired(expires_at, now)) return 'expired';
  return attempts >= PAYMENT_LINK_ATTEMPTS_MAX ? 'no_attempt_left' : undefined;
}

const OBSTACLES = {
  in_progress: 'A payment is in progress.',
  completed: 'The payment link is paid.',
  expired: 'The payment link has ended.',
  no_attempt_left: 'The payment link has no payment attempt left.',
};

/** The refusal of an attempt that the link does not take. */
export function linkRefusal(obstacle: LinkObstacle): ServiceError {
  return new ServiceError('TransactionAlreadyStarted', OBSTACLES[obstacle]);
}

/** Throws Conflict when the merchant may not end a link with this status (rules 19.11). */
export function requireLinkMayEnd(status: PaymentLinkStatus): void {
  if (status === 'processing' || status === 'completed') {
    throw new ServiceError('Conflict', OBSTACLES[status === 'processing' ? 'in_progress' : 'completed']);
  }
}

/** The status of a link once its open order has this final status (rules 19.6). `now` in epoch milliseconds. */
export function linkStatusAfter(order: OrderStatus, link: { expires_at: number }, now: number): PaymentLinkStatus {
  if (order === 'completed') return 'completed';
  return isExpired(link.expires_at, now) ? 'expired' : 'all_unsuccessful';
}

/** Whether the link ends now: its time has run out, and no payment is in progress. `now` in epoch milliseconds. */
export function isLinkDue({ status, expires_at }: PaymentLinkSnapshot, now: number): boolean {
  return (status === 'new' || status === 'all_unsuccessful') && isExpired(expires_at, now);
}

/** Why the link has its status, in words for the merchant (rules 19.9). */
export function linkReason(
  link: Pick<PaymentLinkSnapshot, 'status' | 'ended_by' | 'attempts' | 'expires_at' | 'completed_order_id'>,
): string {
  switch (link.status) {
    case 'new':
      return 'No payment was tried yet.';
    case 'processing':
      return 'A payment is in progress.';
    case 'completed':
      return `Paid by order ${link.completed_order_id}.`;
    case 'expired':
      return link.ended_by === 'merchant' ? 'Ended by the merchant.' : 'Expired without a payment.';
    case 'all_unsuccessful': {
      if (link.attempts >= PAYMENT_LINK_ATTEMPTS_MAX) return `All ${PAYMENT_LINK_ATTEMPTS_MAX} attempts failed.`;
      const until = new Date(link.expires_at).toISOString().replace(/\.\d+Z$/, 'Z');
      return `${link.attempts} of ${PAYMENT_LINK_ATTEMPTS_MAX} attempts failed; the link can be tried again until ${until}.`;
    }
  }
}
