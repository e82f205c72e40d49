import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds between two questions: a fifth of what has been waited so far, within these limits. */
const PAUSE_MS = { least: 25, most: 500 };

/**
 * Asks again and again until there is an answer other than undefined or false; says what never came. The longer it
 * takes, the less often it asks: most questions are requests, which take the processor from what is waited for.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  within_ms = 60_000,
): Promise<T> {
  const began = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    const waited = performance.now() - began;
    if (waited > within_ms) throw new Error(`not within ${within_ms} ms: ${what}`);
    await sleep(Math.min(PAUSE_MS.most, Math.max(PAUSE_MS.least, waited / 5)));
  }
}
