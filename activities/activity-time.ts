import { asyncLocalStorage } from '@temporalio/activity';
import type { LocalRetry } from '../workflows/messages';
import type { TimeOfTry } from './services';

/**
 * How long ago the activity was first scheduled, in milliseconds; added to the `now` of its input. The argument comes
 * with a local activity that a timer of the workflow has retried, or that became a task. 0 without Temporal.
 */
export function waitedMilliseconds({ waited_ms }: LocalRetry = { waited_ms: 0 }): number {
  const info = asyncLocalStorage.getStore()?.info;
  if (info === undefined) return waited_ms;
  const { scheduledTimestampMs: scheduled, currentAttemptScheduledTimestampMs: retried } = info;
  // Never negative: the server's clock may be ahead of this machine's. The time-skipping server skips pauses.
  return waited_ms + Math.max(scheduled, retried, Date.now()) - scheduled;
}

/**
 * The current instant of a try, epoch milliseconds by the workflow's clock: `now` is its beginning, and it may have
 * waited for the processor or the database since.
 */
export function currentInstant({ now, now_monotonic }: TimeOfTry): number {
  return now_monotonic === undefined ? now : now + Math.floor(performance.now() - now_monotonic);
}

/**
 * The input of an activity with `now` corrected to this try: the workflow's `now` is the time of the first one, which
 * may be minutes ago (rules 4.15). `poll_at` is shifted by the same time, `now_monotonic` is set for `currentInstant`.
 */
export function withTimeOfTry<Input>(input: Input, waited_ms: number): Input {
  if (typeof input !== 'object' || input === null) return input;
  const { now, poll_at } = input as { now?: unknown; poll_at?: unknown };
  if (typeof now !== 'number') return input;
  return {
    ...input,
    now_monotonic: performance.now(),
    now: now + waited_ms,
    ...(typeof poll_at === 'number' && { poll_at: poll_at + waited_ms }),
  };
}
