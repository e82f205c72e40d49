import { setTimeout as sleep } from 'node:timers/promises';

/** The value below which `share` of the values lie (nearest rank). Throws when there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new Error('there is nothing to take a quantile of');
  return value;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The median; of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const reversed = values.map((value) => -value);
  return (quantile(values, 0.5) - quantile(reversed, 0.5)) / 2;
}

/**
 * Begins `once` so many times, one every `pause_ms`, whether or not the earlier ones have ended. Returns the duration
 * of each, in milliseconds.
 */
export async function durationsAtPace(
  once: (n: number) => Promise<unknown>,
  { count, pause_ms }: { count: number; pause_ms: number },
): Promise<number[]> {
  const timed = async (n: number) => {
    const start = performance.now();
    await once(n);
    return performance.now() - start;
  };
  const running: Promise<number>[] = [];
  const began = performance.now();
  for (let n = 0; n < count; n += 1) {
    await sleep(Math.max(0, began + n * pause_ms - performance.now()));
    const one = timed(n);
    // A failure is reported at the end, by the wait for all of them.
    one.catch(() => undefined);
    running.push(one);
  }
  return await Promise.all(running);
}
