import type { Logger } from '../log';

/**
 * Runs a process until it is told to stop: SIGTERM, SIGINT, or the end of the supervisor that started it (its channel
 * closes). `stop` closes what was opened; a second signal does not wait for it.
 */
export function runUntilStopped(log: Logger, stop: () => Promise<void>): void {
  let stopping = false;
  const end = (reason: string) => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ reason }, 'stopping');
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ error }, 'did not stop cleanly');
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', () => end('SIGTERM'));
  process.once('SIGINT', () => end('SIGINT'));
  process.once('disconnect', () => end('the supervisor is gone'));
}

/** Tells the supervisor, where there is one, that the process does its work from now on. */
export function tellReady(): void {
  process.send?.({ ready: true });
}

/** Ends the process with one line when it cannot start. */
export function startOrExit(log: Logger, start: () => Promise<void>): void {
  start().catch((error: unknown) => {
    log.fatal({ error: error instanceof Error ? { message: error.message, stack: error.stack } : error }, 'cannot start');
    process.exit(1);
  });
}
