import { createServer, type AddressInfo } from 'node:net';
import type { TelemetryOptions } from '@temporalio/worker';

/** The metrics of Temporal's SDK in a worker, which its native part serves on a port of the loopback. */
export interface SdkMetrics {
  /** For `Runtime.install`. */
  readonly options: NonNullable<TelemetryOptions['metrics']>;
  /** All of them, in the format of Prometheus. Rejects when they cannot be read. */
  read(): Promise<string>;
}

const LOOPBACK = '127.0.0.1';
/** Milliseconds that a read may take. */
const READ_MS = 2_000;

/**
 * Chooses a free port for the metrics of the SDK. Its names begin with `temporal_`; each has the version of the
 * workflows as a label, as workers of two versions have slots and queues of their own.
 */
export async function sdkMetrics(version: string): Promise<SdkMetrics> {
  const bindAddress = `${LOOPBACK}:${await freePort()}`;
  return {
    options: {
      attachServiceName: false,
      globalTags: { version },
      prometheus: { bindAddress, countersTotalSuffix: true, unitSuffix: true, useSecondsForDurations: true },
    },
    async read() {
      const answer = await fetch(`http://${bindAddress}/metrics`, { signal: AbortSignal.timeout(READ_MS) });
      return await answer.text();
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, LOOPBACK, resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
