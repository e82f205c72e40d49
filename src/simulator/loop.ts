import type { Logger } from '../log';

/** Runs `round` every `interval_ms` milliseconds. A round that fails is logged once until one succeeds again. */
export function startLoop(round: () => Promise<void>, interval_ms: number, log: Logger) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  let failing = false;

  const run = async (): Promise<void> => {
    do {
      again = false;
      try {
        await round();
        failing = false;
      } catch (error) {
        if (!failing) log.error({ err: error }, 'a round of due work failed; retrying');
        failing = true;
      }
    } while (again && !stopped);
    running = undefined;
    if (!stopped) timer = setTimeout(start, interval_ms);
  };
  const start = (): void => {
    clearTimeout(timer);
    running = run();
  };

  start();
  return {
    /** Runs a round now, after the current one. */
    wake(): void {
      if (stopped) return;
      if (running) again = true;
      else start();
    },
    /** Waits for the round that runs, and ends. */
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
