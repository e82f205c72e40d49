import { tooLate } from '../errors';

/**
 * A request without an Idempotency-Key may store something only while its sender still waits (rules 10.5). Its
 * `not_after` is in epoch milliseconds by the API's clock; the margin of its deadline covers the difference to other
 * clocks.
 */

/**
 * The check in SQL, for one statement: by the database's clock as it runs, as it may have waited for a connection or a
 * lock.
 */
export const IN_TIME = '(:not_after::bigint is null or clock_timestamp() <= to_timestamp(:not_after::bigint / 1000.0))';

/** Whether the sender may have been answered already. */
export function isLate(not_after: number | undefined): boolean {
  return not_after !== undefined && Date.now() > not_after;
}

/** Throws ServiceUnavailable when it is too late. */
export function requireInTime(not_after: number | undefined): void {
  if (isLate(not_after)) throw tooLate();
}
