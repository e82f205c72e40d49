/**
 * The time of one workflow, in epoch milliseconds. Workflows ask it instead of `Date.now()`, and pass the time to
 * activities.
 */
export interface Clock {
  now(): number;
}

/** Temporal's time: the same in every replay, and skipped in tests. */
export const temporalClock: Clock = { now: () => Date.now() };
