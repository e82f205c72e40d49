import { closingOf, openAuthorization } from './authorization';
import { WEBHOOK_ATTEMPTS_MAX, type DeliveryProgress } from './delivery';
import { latestAttempt, outcomeAwaitedFrom, paymentExpiresAt, type OrderSnapshot } from './order-snapshot';
import type { PaymentLinkSnapshot } from './payment-link';
import { ORDER_MOVES, isFinal } from './transitions';

/** An event that an object waits for: shown by the timeline and in the Web UI (rules 23.3). */
export interface Wait {
  /** Epoch milliseconds. A step that is already running is due in the past. */
  at: number;
  event: string;
  text: string;
  /** A poll of the processor; its intervals are in real time. */
  is_poll?: true;
}

/** Writes an amount of minor units, for example `12.50 EUR`. */
export type AmountInWords = (amount: number, currency: string) => string;

/** Minor units with their currency, for code without ISO 4217's list of digits. */
export const minorUnitsInWords: AmountInWords = (amount, currency) => `${amount} ${currency} (minor units)`;

/** Why an operator must look: the processor answers about another amount or currency (rules 10.17). */
export function mismatchInWords(
  answered: { amount: number; currency: string },
  order: { amount: number; currency: string },
): string {
  const [other, own] = [answered, order].map(({ amount, currency }) => minorUnitsInWords(amount, currency));
  return `the processor answers for ${other} instead of ${own}`;
}

/** The waits of an order, the next first. Webhooks and follow-up orders have waits of their own. */
export function waitsOf(order: OrderSnapshot, inWords: AmountInWords): Wait[] {
  const authorization = openAuthorization(order);
  if (authorization !== undefined) {
    const at = authorization.capture_ends_at;
    const closing = closingOf(authorization, at);
    if (closing === undefined) return [];
    const amount = inWords(closing.amount, order.currency);
    const text =
      closing.kind === 'capture' ? `Captures ${amount} automatically` : `Releases ${amount} unless it is captured`;
    return [{ at, event: 'order.new', text }];
  }
  if (isFinal(ORDER_MOVES, order.status)) return [];
  const last = latestAttempt(order);
  const { poll_at } = last ?? {};
  const poll: Wait[] =
    poll_at === undefined
      ? []
      : [{ at: poll_at, event: 'processor.asked', text: 'Asks the processor again', is_poll: true }];
  const awaited_from = outcomeAwaitedFrom(order);
  if (awaited_from === 'processor') {
    // A request that has not been sent yet, or whose worker has died.
    return last?.status === 'new'
      ? [{ at: 0, event: 'processor.asked', text: 'Sends the request to the processor' }]
      : poll;
  }
  // Only payments have a time for paying.
  if (order.charged_by === null) return poll;
  const text =
    awaited_from === 'issuer'
      ? 'Expires, unless the customer finishes 3-D Secure'
      : last?.status === 'error'
        ? 'Expires, unless the customer tries again and pays'
        : 'Expires, unless the customer pays';
  return [...poll, { at: paymentExpiresAt(order), event: 'order.expired', text }].toSorted(byInstant);
}

/** The next attempt of a webhook; `undefined` once it is final, and while it is paused. */
export function deliveryWait({
  status,
  attempts,
  next_attempt_at = 0,
}: Pick<DeliveryProgress, 'status' | 'attempts' | 'next_attempt_at'>): Wait | undefined {
  if (status !== 'new') return undefined;
  const text = `Webhook attempt ${attempts + 1} of ${WEBHOOK_ATTEMPTS_MAX}`;
  return { at: next_attempt_at, event: 'webhook.attempt', text };
}

/** A paused webhook, which waits to be resumed (rules 13.10). `undefined` if it is not paused. */
export function pausedDelivery({
  status,
  attempts,
}: Pick<DeliveryProgress, 'status' | 'attempts'>): Omit<Wait, 'at'> | undefined {
  if (status !== 'paused') return undefined;
  return { event: 'webhook.paused', text: `Webhook paused before attempt ${attempts + 1} of ${WEBHOOK_ATTEMPTS_MAX}` };
}

/** The next poll of a payment that ended and may have been approved late (rules 10.12). */
export interface LateApprovalWatch {
  transaction_id: string;
  /** Epoch milliseconds. */
  poll_at: number;
  /** Number of polls without an answer since the first `poll_at`. */
  polls: number;
  /** When the payment ended, or the evidence of an approval came. Epoch milliseconds. */
  began: number;
}

/** After a poll without an answer the next one comes in real time, as for every open outcome. */
export function watchWait({ poll_at, polls }: LateApprovalWatch): Wait {
  return {
    at: poll_at,
    event: 'processor.asked',
    text: 'Asks the processor whether it approved the payment after all',
    ...(polls > 0 && { is_poll: true }),
  };
}

/** The end of a payment link; `undefined` while a payment is in progress and once its status is final. */
export function linkWait({ status, expires_at }: Pick<PaymentLinkSnapshot, 'status' | 'expires_at'>): Wait | undefined {
  if (status !== 'new' && status !== 'all_unsuccessful') return undefined;
  return { at: expires_at, event: 'payment_link.expired', text: 'Expires, unless it is paid' };
}

export const byInstant = (a: { at: number }, b: { at: number }) => a.at - b.at;
