import {
  Runtime,
  makeTelemetryFilterString,
  type LogLevel,
  type LogMetadata,
  type Logger as SdkLogger,
} from '@temporalio/worker';
import type { Logger } from '../log';
import type { SdkMetrics } from './sdk-metrics';

/** Prepares the native part of the SDK: its log lines go to our log. Once in a process, before its first worker. */
export function installSdkRuntime(log: Logger, metrics: SdkMetrics['options']): void {
  Runtime.install({
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }), forward: {} },
      metrics,
    },
    logger: loggerFor(log),
  });
}

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/**
 * The SDK's lines in our log. It reports the start and end of every workflow and activity, so lines below our level are
 * skipped early.
 */
function loggerFor(log: Logger): SdkLogger {
  const write = (level: LogLevel) => (message: string, meta?: LogMetadata) => {
    if (log.isLevelEnabled(LEVELS[level])) log[LEVELS[level]]({ ...meta }, message);
  };
  return {
    log: (level, message, meta) => write(level)(message, meta),
    trace: write('TRACE'),
    debug: write('DEBUG'),
    info: write('INFO'),
    warn: write('WARN'),
    error: write('ERROR'),
  };
}
