import { STOP_LIMITS_MS } from '../config';
import type { Logger } from '../log';
import { stopWithParent, tellReady } from './child';

/** The resources of a process, in the order they are closed. */
export interface Started {
  close(): Promise<void>;
}

/**
 * Runs a process: starts it, tells the supervisor when it is ready, and closes it at SIGTERM, SIGINT or when the
 * supervisor is gone, even while it is still starting. A start that fails is reported in one line.
 */
export function runProcess(log: Logger, start: () => Promise<Started>): void {
  const starting = start();
  stopWithParent(async () => {
    const started = await starting.catch(() => undefined);
    await started?.close().catch((error: unknown) => log.error({ err: error }, 'did not stop cleanly'));
  }, STOP_LIMITS_MS.process);
  starting.then(tellReady, (error: unknown) => {
    log.fatal({ err: error }, 'cannot start');
    process.exit(1);
  });
}
