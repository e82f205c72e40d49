import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from './availability';

/** SQLSTATE: a lock was not free within lock_timeout, or is held by a statement that waits for the migration. */
const LOCK_NOT_AVAILABLE = ['55P03', '40P01'];
const ATTEMPTS_MAX = 30;
/** The longest pause between two attempts; the first ones are shorter. Milliseconds. */
const PAUSE_MAX_MS = 10_000;

/**
 * Does the work of a migration again while a lock is not free, for about five minutes. `onRetry` gets the number of the
 * attempt that failed. Throws an Error with the remedy after that.
 */
export async function retryLocks<T>(work: () => Promise<T>, onRetry?: (attempt: number) => void): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!LOCK_NOT_AVAILABLE.includes(String(codeOf(error)))) throw error;
      if (attempt === ATTEMPTS_MAX) {
        const remedy = 'end the long transactions in pg_stat_activity, or migrate when they have ended';
        throw new Error(`a lock was not free in ${ATTEMPTS_MAX} attempts: ${remedy}`, { cause: error });
      }
      onRetry?.(attempt);
      await sleep(Math.min(attempt * 500, PAUSE_MAX_MS));
    }
  }
}
