import type { OrderView, TransactionView } from '../../src/db/order-view';
import { isExpired, mayCancel } from '../../src/domain/order';
import { isChargedByToken } from '../../src/domain/order-record';
import { ORDER_MOVES, isFinal, type OrderStatus } from '../../src/domain/transitions';

/** How an order ended, as its result page shows it. */
export type Ended = Extract<OrderStatus, 'completed' | 'cancelled' | 'expired' | 'error'>;

/** Why the previous attempt failed: the issuer declined it, or anything else (3-D Secure, the processor). */
export interface Setback {
  declined: boolean;
  payment_method: string;
  response_code: string | undefined;
}

/** What the customer has to do now. Not stored: it follows from the record. */
export type CustomerStep =
  | {
      kind: 'pay';
      /** The attempt that a form of this page pays; a form with another number is out of date. */
      attempt: number;
      attempts_left: number;
      setback: Setback | undefined;
      /** Epoch milliseconds. */
      expires_at: number;
    }
  | { kind: 'wait'; for: 'outcome' | 'issuer'; may_cancel: boolean; challenge_url?: string }
  | { kind: 'ended'; as: Ended; setback: Setback | undefined };

/** The step an order is at. `now` in epoch milliseconds: an order is expired at its expires_at, even before its timer fires. */
export function stepOf(order: OrderView, now: number): CustomerStep {
  const last = order.transactions.at(-1);
  const setback = setbackOf(last);
  if (isFinal(ORDER_MOVES, order.status)) return { kind: 'ended', as: order.status as Ended, setback };
  if (last?.status === 'processing') return { kind: 'wait', for: 'outcome', may_cancel: false };
  const expires_at = paymentExpiresAt(order, last);
  if (isExpired(expires_at, now)) return { kind: 'ended', as: 'expired', setback: undefined };
  if (last?.status === 'pending') {
    return {
      kind: 'wait',
      for: 'issuer',
      may_cancel: mayCancel(order.status, last.status),
      ...(last.challenge_url === null ? {} : { challenge_url: last.challenge_url }),
    };
  }
  if (isChargedByToken(order)) return { kind: 'wait', for: 'outcome', may_cancel: false };
  const attempt = last?.status === 'new' ? last.attempt : order.transactions.length + 1;
  return { kind: 'pay', attempt, attempts_left: order.attempts_max - attempt + 1, setback, expires_at };
}

function paymentExpiresAt(order: OrderView, last: TransactionView | undefined): number {
  const order_expires_at = epoch(order.expires_at);
  const open = last?.status === 'new' || last?.status === 'pending';
  return open ? Math.min(order_expires_at, epoch(last.expires_at)) : order_expires_at;
}

/** Without expires_at it never expires. */
const epoch = (instant: string | null) => (instant === null ? Number.POSITIVE_INFINITY : Date.parse(instant));

function setbackOf(last: TransactionView | undefined): Setback | undefined {
  if (last?.status !== 'error') return undefined;
  const declined = last.events.some(({ event, result }) => event === 'error' && result === 'declined');
  return { declined, payment_method: last.payment_method, response_code: last.response_code ?? undefined };
}
