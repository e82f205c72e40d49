import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log';

/** Runs `round` every `interval_ms` milliseconds. A round that fails is logged once until one succeeds again. */
export function startLoop(round: () => Promise<void>, interval_ms: number, log: Logger) {
  let stopped = false;
  let pause: AbortController;

  const run = async (): Promise<void> => {
    for (let failing = false; !stopped;) {
      pause = new AbortController();
      try {
        await round();
        failing = false;
      } catch (error) {
        if (!failing) log.error({ err: error }, 'a round of due work failed; retrying');
        failing = true;
      }
      await sleep(interval_ms, undefined, { signal: pause.signal }).catch(() => undefined);
    }
  };

  const running = run();
  return {
    /** Runs a round now, after the current one. */
    wake: () => pause.abort(),
    /** Waits for the round that runs, and ends. */
    async stop(): Promise<void> {
      stopped = true;
      pause.abort();
      await running;
    },
  };
}
