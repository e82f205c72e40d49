import { asyncLocalStorage } from '@temporalio/activity';
import type { LocalRetry } from '../workflows/messages';

/**
 * How long ago the activity was first scheduled, in milliseconds: what its instant is behind. `retry` comes with a local
 * activity whose pause was a timer of the workflow. 0 without Temporal.
 */
export function waitedMilliseconds({ waited_ms }: LocalRetry = { waited_ms: 0 }): number {
  const info = asyncLocalStorage.getStore()?.info;
  if (info === undefined) return waited_ms;
  const { scheduledTimestampMs: scheduled, currentAttemptScheduledTimestampMs: retried } = info;
  // Never negative: the clock of a server may be ahead of ours. The time-skipping server passes over pauses.
  return waited_ms + Math.max(scheduled, retried, Date.now()) - scheduled;
}

/**
 * The input of an activity at the instant of this try: `now` is when the workflow scheduled the first one, and minutes
 * may have passed since (rules 4.15). `poll_at` keeps its distance.
 */
export function atTimeOfTry<Input>(input: Input, waited_ms: number): Input {
  if (waited_ms === 0 || typeof input !== 'object' || input === null) return input;
  const { now, poll_at } = input as { now?: unknown; poll_at?: unknown };
  if (typeof now !== 'number') return input;
  return { ...input, now: now + waited_ms, ...(typeof poll_at === 'number' && { poll_at: poll_at + waited_ms }) };
}
