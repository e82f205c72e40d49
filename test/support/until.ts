import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 25;

/** Asks again and again until there is an answer other than undefined or false; says what never came. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  within_ms = 60_000,
): Promise<T> {
  const give_up = performance.now() + within_ms;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > give_up) throw new Error(`not within ${within_ms} ms: ${what}`);
    await sleep(PAUSE_MS);
  }
}
