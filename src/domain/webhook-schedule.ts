/** When a webhook is sent again, and how long an attempt may take (rules 13.5, 13.6). */
export const WEBHOOK_ATTEMPTS_MAX = 10;

/** From the end of a failed attempt to the start of the next, in milliseconds. */
export const WEBHOOK_RETRY_AFTER_MS = 2 * 60_000;

/** Time limit for connecting, and again for reading, in milliseconds. `attempt` counts from 1. */
export function webhookTimeLimit(attempt: number): number {
  return attempt === 1 ? 4_000 : 10_000;
}
