import { randomUUID } from 'node:crypto';
import express, { type RequestHandler, type Router } from 'express';
import type { Config } from '../../src/config';
import { ServiceError } from '../../src/errors';
import type { Logger } from '../../src/log';
import { answer } from './answer';
import { createAuthenticate, type FindProject } from './authenticate';
import { bind, otherMethods } from './bind';
import type { Operations } from '../context';
import { docs } from '../docs/router';
import type { KeyStore } from './idempotency';
import { onError } from './errors';
import { createRateLimit } from './rate-limit';
import { requireTls, trustedProxies } from './require-tls';

/** Something the API cannot work without. */
export interface Probe {
  readonly name: string;
  /** Rejects when it is unavailable. */
  check(): Promise<void>;
}

/** The parts of the API; tests may replace them. */
export interface AppDependencies {
  readonly config: Pick<Config, 'API_DEADLINE_MS' | 'API_KEY_CACHE_MS' | 'RATE_LIMIT_PER_SECOND' | 'TRUSTED_PROXY'>;
  readonly log: Logger;
  readonly operations: Operations;
  /** Looks an API key up; the API remembers its answer for API_KEY_CACHE_MS. */
  readonly findProject: FindProject;
  readonly keys: KeyStore;
  readonly probes: readonly Probe[];
  /** The hosted page, and where the processor's notifications arrive. */
  readonly pages: Router;
  readonly notifications: Router;
}

/** Milliseconds a probe may take. */
const PROBE_TIMEOUT_MS = 2_000;

/** The whole HTTP surface: API, hosted page, documentation and health. */
export function createApp({
  config,
  log,
  operations,
  findProject,
  keys,
  probes,
  pages,
  notifications,
}: AppDependencies): express.Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.set('query parser', 'simple');
  const proxies = trustedProxies(config);
  if (proxies.length > 0) app.set('trust proxy', proxies);

  app.use(mark);
  app.use(requireHost);
  route(app, '/health/live', (_request, response) => answer(response, 200, { status: 'live' }));
  route(app, '/health/ready', ready(probes, log));
  app.use(requireTls());
  const authenticate = createAuthenticate(findProject, config.API_KEY_CACHE_MS);
  const rateLimit = createRateLimit(config.RATE_LIMIT_PER_SECOND);
  app.use(bind({ operations, authenticate, rateLimit, keys, deadline_ms: config.API_DEADLINE_MS, log }));
  app.use(notifications);
  app.use(pages);
  app.use('/docs', docs());
  route(app, '/', (_request, response) =>
    answer(response, 200, {
      service: 'payments',
      version: 'v1',
      documentation: '/docs/',
      openapi: '/docs/openapi.json',
    }),
  );
  app.use(() => {
    throw new ServiceError('NotFound', 'There is nothing at this path.');
  });
  app.use(onError(log));
  return app;
}

/** Headers of every answer. Request ids from outside are not taken over: they would carry foreign text into the log. */
const mark: RequestHandler = (_request, response, next) => {
  response.setHeader('X-Request-Id', randomUUID());
  response.setHeader('X-Content-Type-Options', 'nosniff');
  next();
};

/** HTTP/1.1 requires the header Host (RFC 9112). */
const requireHost: RequestHandler = ({ headers, httpVersion }, _response, next) => {
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new ServiceError('ValidationError', 'The header Host is missing.');
  }
  next();
};

/** Adds a path that is only read. */
function route(app: express.Express, path: string, handler: RequestHandler): void {
  app
    .route(path)
    .get(handler)
    .all(otherMethods(['get']));
}

function ready(probes: readonly Probe[], log: Logger): RequestHandler {
  return async (_request, response) => {
    const results = await Promise.allSettled(probes.map((probe) => within(PROBE_TIMEOUT_MS, probe.check())));
    const missing = probes.filter((_probe, index) => results[index]?.status === 'rejected').map(({ name }) => name);
    if (missing.length > 0) {
      log.warn({ missing }, 'not ready');
      throw new ServiceError('ServiceUnavailable', `Not ready: ${missing.join(', ')}.`);
    }
    answer(response, 200, { status: 'ready', checks: Object.fromEntries(probes.map(({ name }) => [name, 'ok'])) });
  };
}

async function within(timeout_ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('timed out')), timeout_ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
