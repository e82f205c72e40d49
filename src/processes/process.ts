import { setTimeout as sleep } from 'node:timers/promises';
import { STOP_LIMITS_MS, parseConfig, type Config } from '../config';
import { createLogger, type Logger } from '../log';
import { startTracing, stopTracing } from '../tracing/tracing';

/** A process that runs. */
export interface Started {
  /** Still answers, and has new requests sent elsewhere (rules 2.9). */
  startDrain?(): void;
  /** Closes its resources in their order. */
  close(): Promise<void>;
}

/** The configuration of a process, and its log. Starts its traces. `fields` are of each log line. */
export function prepareProcess(
  env: NodeJS.ProcessEnv,
  name: string,
  fields?: () => object,
): { config: Config; log: Logger } {
  const config = parseConfig(env);
  const log = createLogger({ process: name, level: config.LOG_LEVEL, ...(fields && { fields }) });
  startTracing(config, name, log);
  return { config, log };
}

/**
 * Runs a process: starts it, reports to the supervisor when it is ready, and closes it at SIGTERM, at SIGINT or when
 * the supervisor exits, even during startup. Before it is closed it drains for `drain_ms` milliseconds, or until the
 * next signal. A start that fails is reported in one line. The last line that it logs states how it ended, unless it
 * was killed.
 */
export function runProcess(log: Logger, start: () => Promise<Started>, { drain_ms = 0 } = {}): void {
  const starting = start();
  let cause = 'its work ended';
  process.on('uncaughtExceptionMonitor', (error) => {
    cause = 'uncaught error';
    log.fatal({ err: error }, 'uncaught error');
  });
  process.once('exit', (exit_code) => log.info({ cause, exit_code }, 'process ended'));
  stopWithParent(async (reason, repeated) => {
    cause = reason;
    const started = await starting.catch(() => undefined);
    if (started?.startDrain !== undefined && drain_ms > 0) {
      log.info({ drain_ms }, 'draining');
      started.startDrain();
      await sleep(drain_ms, undefined, { signal: repeated }).catch(() => undefined);
    }
    await started?.close().catch((error: unknown) => log.error({ err: error }, 'did not stop cleanly'));
    await stopTracing();
  }, STOP_LIMITS_MS.process + drain_ms);
  starting.then(tellReady, (error: unknown) => {
    cause = 'cannot start';
    log.fatal({ err: error }, 'cannot start');
    process.exit(1);
  });
}

/**
 * For every process of the service: `stop` is called once with the reason, at SIGTERM, SIGINT, SIGHUP, or when the
 * parent that started it over an IPC channel has ended (the channel closes even when the parent was killed), and then
 * the process leaves. Started alone there is no channel and only the signals count. Repeated ones only abort the
 * signal `repeated`: npm hands on a Ctrl-C that the terminal has already delivered. After `limit_ms` milliseconds it
 * leaves without having finished, with code 1.
 */
export function stopWithParent(stop: (reason: string, repeated: AbortSignal) => Promise<void>, limit_ms: number): void {
  const again = new AbortController();
  let stopping = false;
  const leave = (reason: string) => {
    if (stopping) return again.abort();
    stopping = true;
    setTimeout(() => process.exit(1), limit_ms).unref();
    stop(reason, again.signal).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', leave);
  process.on('SIGINT', leave);
  // The terminal was closed.
  process.on('SIGHUP', leave);
  const leaveWithParent = () => leave('the supervisor ended');
  process.on('disconnect', leaveWithParent);
  if (process.send !== undefined && !process.connected) leaveWithParent();
}

/** Reports to the parent process, if any, that this process is ready. */
export function tellReady(): void {
  // A parent that has just died is no failure: `disconnect` follows.
  process.send?.({ ready: true }, undefined, undefined, () => undefined);
}
