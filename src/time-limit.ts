import { setTimeout as sleep } from 'node:timers/promises';

/** The result of work, or an Error `timed out` after this time in milliseconds; the work itself goes on. */
export async function withTimeLimit<T>(time_limit_ms: number, work: Promise<T>): Promise<T> {
  const late = sleep(time_limit_ms, undefined, { ref: false });
  return await Promise.race([work, late.then(() => Promise.reject(new Error('timed out')))]);
}
