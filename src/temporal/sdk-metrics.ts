import type { TelemetryOptions } from '@temporalio/worker';
import { serveHttp } from '../http-server';

/** The metrics of Temporal's SDK in a worker, which its native part serves on a port of the loopback. */
export interface SdkMetrics {
  /** For `Runtime.install`. */
  readonly options: NonNullable<TelemetryOptions['metrics']>;
  /** All of them, in the format of Prometheus. Rejects when they cannot be read. */
  read(): Promise<string>;
}

/** Milliseconds that a read may take. */
const READ_MS = 2_000;

/**
 * Chooses a free port for the metrics of the SDK. Its names begin with `temporal_`; each has the version of the
 * workflows as a label, as workers of two versions have slots and queues of their own.
 */
export async function sdkMetrics(version: string): Promise<SdkMetrics> {
  // Temporal's SDK does not tell the port that it would choose.
  const free = await serveHttp(() => undefined, { host: '127.0.0.1', port: 0 });
  await free.close();
  return {
    options: {
      attachServiceName: false,
      globalTags: { version },
      prometheus: {
        bindAddress: new URL(free.url).host,
        countersTotalSuffix: true,
        unitSuffix: true,
        useSecondsForDurations: true,
      },
    },
    async read() {
      const answer = await fetch(`${free.url}/metrics`, { signal: AbortSignal.timeout(READ_MS) });
      return await answer.text();
    },
  };
}
