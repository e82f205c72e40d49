import express from 'express';
import { ServiceError } from '../../src/errors';
import { serveHttp, type HttpServer } from '../../src/http-server';
import type { Logger } from '../../src/log';
import { onError } from './errors';
import { health, type Probe } from './health';

/**
 * Answers `/health/live` and `/health/ready` for a process that has no API (rules 24.6). Rejects when the port is
 * taken. `problem`: why the process is not live.
 */
export async function serveHealth(
  probes: readonly Probe[],
  log: Logger,
  { problem, ...place }: { host: string; port: number; problem?: () => string | undefined },
): Promise<HttpServer> {
  const app = express();
  app.disable('x-powered-by');
  app.use(health(probes, log, { problem }));
  app.use(() => {
    throw new ServiceError('NotFound', 'There is nothing at this path: /health/live and /health/ready answer.');
  });
  app.use(onError(log, 'Basic'));
  return await serveHttp(app, place);
}
