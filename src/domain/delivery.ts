import { ServiceError } from '../errors';
import { DELIVERY_MOVES, isFinal, type DeliveryStatus } from './transitions';

/** Names one delivery of a webhook. */
export interface DeliveryKey {
  order_id: string;
  n: DeliveryNumber;
}

/** Counts the deliveries of an order from 1, redeliveries included. All attempts of a delivery have its number. */
export type DeliveryNumber = number;

/** The id of a delivery on the wire: that of its order, a hyphen and its number. */
export const formatDeliveryId = ({ order_id, n }: DeliveryKey) => `${order_id}-${n}`;

/** The delivery with such an id. */
export function parseDeliveryId(id: string): DeliveryKey {
  const hyphen = id.lastIndexOf('-');
  return { order_id: id.slice(0, hyphen), n: Number(id.slice(hyphen + 1)) };
}

/** The progress of a delivery: all facts that determine the next step. */
export interface DeliveryProgress {
  status: DeliveryStatus;
  /** Attempts made so far. */
  attempts: number;
  /**
   * When the next attempt is due, epoch milliseconds; absent once the delivery is final. A paused delivery keeps it.
   */
  next_attempt_at?: number | undefined;
  /** How the last attempt failed, in words; absent before the first and when it was received. */
  failure?: string | undefined;
  /** How far the clock of its order is ahead of real time, in milliseconds (rules 23.4). */
  clock_offset_ms: number;
  /** Whether the last attempt was slow, so that the next one may be too. */
  is_slow: boolean;
}

/** After so many failed attempts a delivery is failed (rules 13.6). */
export const WEBHOOK_ATTEMPTS_MAX = 10;

/** From the end of a failed attempt to the start of the next, in milliseconds (rules 13.6). */
export const WEBHOOK_RETRY_AFTER_MS = 2 * 60_000;

/** Time limit for connecting, and again for reading, in milliseconds (rules 13.5). `attempt` counts from 1. */
export function webhookTimeLimit(attempt: number): number {
  return attempt === 1 ? 4_000 : 10_000;
}

/** An endpoint that answers within this time counts as fast. Milliseconds. */
const QUICK_MS = 1_000;

export function isSlowAttempt(duration_ms: number): boolean {
  return duration_ms > QUICK_MS;
}

/**
 * Whether an attempt is due at `now` (epoch milliseconds). It is not for two minutes after a failed one, so that an
 * activity that runs again sends nothing.
 */
export function isAttemptDue(
  { status, next_attempt_at = 0 }: Pick<DeliveryProgress, 'status' | 'next_attempt_at'>,
  now: number,
): boolean {
  return status === 'new' && next_attempt_at <= now;
}

/** A request about a delivery that waits for its next attempt (rules 13.10). */
export type DeliveryRequest = 'deliver_now' | 'pause' | 'resume';

/**
 * The progress of a delivery after the request; `now` in epoch milliseconds. Throws Conflict when it is final or being
 * sent, which it is from the instant at which an attempt is due, and when the request does not fit its status.
 */
export function afterRequest(
  delivery: Pick<DeliveryProgress, 'status' | 'next_attempt_at'>,
  request: DeliveryRequest,
  now: number,
): Pick<DeliveryProgress, 'status' | 'next_attempt_at'> {
  const { status, next_attempt_at = now } = delivery;
  const is_paused = status === 'paused';
  if (isFinal(DELIVERY_MOVES, status)) throw conflict(`The webhook is ${status}; redeliver sends it again.`);
  if (isAttemptDue(delivery, now)) throw conflict('The webhook is being sent.');
  switch (request) {
    case 'deliver_now':
      if (is_paused) throw conflict('The webhook is paused; resume it first.');
      return { status: 'new', next_attempt_at: now };
    case 'pause':
      if (is_paused) throw conflict('The webhook is paused already.');
      return { status: 'paused', next_attempt_at };
    case 'resume':
      if (!is_paused) throw conflict('The webhook is not paused.');
      // Recovery looks for a delivery from this instant on.
      return { status: 'new', next_attempt_at: Math.max(next_attempt_at, now) };
  }
}

const conflict = (text: string) => new ServiceError('Conflict', text);

/** The progress after attempt `attempt`, which ended at `ended_at` (epoch milliseconds). */
export function afterAttempt({
  attempt,
  failure,
  ended_at,
}: {
  attempt: number;
  failure?: string | undefined;
  ended_at: number;
}): Pick<DeliveryProgress, 'status' | 'next_attempt_at'> {
  if (failure === undefined) return { status: 'delivered' };
  if (attempt >= WEBHOOK_ATTEMPTS_MAX) return { status: 'failed' };
  return { status: 'new', next_attempt_at: ended_at + WEBHOOK_RETRY_AFTER_MS };
}
