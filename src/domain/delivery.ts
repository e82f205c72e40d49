import type { DeliveryStatus } from './transitions';

/** Names one webhook: the order and the number of its status change. */
export interface DeliveryId {
  order_id: string;
  n: number;
}

/** How far a delivery has come: all that decides what is done next. */
export interface DeliveryProgress {
  status: DeliveryStatus;
  /** Attempts made so far. */
  attempts: number;
  /** When the next attempt is due, epoch milliseconds; absent once the delivery is final. */
  next_attempt_at?: number | undefined;
  /** How the last attempt failed, in words; absent before the first and when it was received. */
  failure?: string | undefined;
  /** How far the clock of its order is ahead of real time, in milliseconds (rules 23.4). */
  clock_offset_ms: number;
  /** Whether the last attempt took so long that the next may too. */
  is_slow: boolean;
}

/** After so many failed attempts a delivery is failed (rules 13.6). */
export const WEBHOOK_ATTEMPTS_MAX = 10;

/** From the end of a failed attempt to the start of the next, in milliseconds (rules 13.6). */
const WEBHOOK_RETRY_AFTER_MS = 2 * 60_000;

/** Time limit for connecting, and again for reading, in milliseconds (rules 13.5). `attempt` counts from 1. */
export function webhookTimeLimit(attempt: number): number {
  return attempt === 1 ? 4_000 : 10_000;
}

/** Longest time after which an endpoint counts as one that answers at once, in milliseconds. */
const QUICK_MS = 1_000;

export function isSlowAttempt(duration_ms: number): boolean {
  return duration_ms > QUICK_MS;
}

/**
 * Whether the attempt is still to be made at `now`. `attempt` is its number; absent, the one that the record says is
 * due. `false` for an attempt that was recorded before, so that repeating the request sends nothing.
 */
export function isAttemptDue(
  { status, attempts, next_attempt_at = 0 }: DeliveryProgress,
  { attempt, now }: { attempt?: number | undefined; now: number },
): boolean {
  if (status !== 'new') return false;
  return attempt === undefined ? next_attempt_at <= now : attempts < attempt;
}

/** How the delivery stands after attempt `attempt`, which ended at `ended_at` (epoch milliseconds). */
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
