import http from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { Logger } from '../../src/log';
import { onError } from './errors';
import { health, type Probe } from './health';

export interface HealthServer {
  /** Address without trailing slash. */
  url: string;
  close(): Promise<void>;
}

/**
 * Answers `/health/live` and `/health/ready` for a process that has no API (rules 24.6). Rejects when the port is
 * taken. `problem`: why the process is not live.
 */
export async function serveHealth(
  probes: readonly Probe[],
  log: Logger,
  { host, port, problem }: { host: string; port: number; problem?: () => string | undefined },
): Promise<HealthServer> {
  const app = express();
  app.disable('x-powered-by');
  app.use(health(probes, log, { problem }));
  app.use(onError(log, 'Basic'));
  const server = http.createServer(app);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
