import { randomUUID } from 'node:crypto';
import express, { type RequestHandler, type Router } from 'express';
import type { Config } from '../../src/config';
import { ServiceError } from '../../src/errors';
import type { Logger } from '../../src/log';
import type { Caller } from '../operation';
import { answer } from './answer';
import { observeRequests, type RequestObserver } from './answered-request';
import { bind, otherMethods, type Api } from './bind';
import { docs, type ApiDocument } from './docs';
import { Draining } from './draining';
import { onError } from './errors';
import { health, type Probe } from './health';
import type { Intake } from './intake';
import { createRateLimit } from './rate-limit';
import { requestLog } from './request-log';
import { requestMetrics } from './request-metrics';
import { requireTls, trustedProxies } from './require-tls';

/** The parts of a host; tests may replace them. */
export interface AppDependencies<C extends Caller> {
  readonly config: Pick<Config, 'API_DEADLINE_MS' | 'LOG_REQUESTS' | 'RATE_LIMIT_PER_SECOND' | 'TRUSTED_PROXY'>;
  readonly log: Logger;
  /** The host, as metrics name it. */
  readonly host: 'api' | 'manage';
  readonly api: Api<C>;
  /** Its OpenAPI document. */
  readonly document: ApiDocument;
  readonly probes: readonly Probe[];
  /** Once it has begun, the host is not ready. */
  readonly draining?: Draining;
  /** Told of each answered request, beside the log. */
  readonly observers?: readonly RequestObserver[];
  /** Routes beside the API, such as the hosted page. */
  readonly routers: readonly Router[];
  readonly intake?: Intake;
}

/** The HTTP application of a host: its API, further routes, documentation and health checks. */
export function createApp<C extends Caller>({
  config,
  log,
  host,
  api,
  document,
  probes,
  draining = new Draining(),
  observers = [],
  routers,
  intake,
}: AppDependencies<C>): express.Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.set('query parser', 'simple');
  const proxies = trustedProxies(config);
  if (proxies.length > 0) app.set('trust proxy', proxies);

  app.use(mark);
  app.use(health(probes, log, { isDraining: () => draining.hasBegun }));
  const open = { count: 0 };
  app.use(observeRequests([...requestLog(log, config.LOG_REQUESTS), requestMetrics(host, open), ...observers], open));
  app.use(requireClearHeaders);
  app.use(requireTls());
  const rateLimit = createRateLimit(config.RATE_LIMIT_PER_SECOND);
  app.use(bind(api, { rateLimit, deadline_ms: config.API_DEADLINE_MS, log, intake }));
  for (const router of routers) app.use(router);
  app.use('/docs', docs(document));
  app
    .route('/')
    .get((_request, response) =>
      answer(response, 200, {
        service: 'payments',
        version: 'v1',
        documentation: '/docs/',
        openapi: '/docs/openapi.json',
      }),
    )
    .all(otherMethods(['get']));
  app.use(() => {
    throw new ServiceError('NotFound', 'There is nothing at this path: /docs/ lists all.');
  });
  app.use(onError(log, api.routes.security.challenge));
  return app;
}

/** Headers of every answer. Request ids from outside are not taken over: they would carry foreign text into the log. */
const mark: RequestHandler = (_request, response, next) => {
  response.setHeader('X-Request-Id', randomUUID());
  response.setHeader('X-Content-Type-Options', 'nosniff');
  next();
};

/** Headers that must not be repeated: a proxy and this server might use different values. */
const ONCE = ['Host', 'Authorization'];

/** Refuses a request without Host (RFC 9112), or with two Host or two Authorization headers. */
const requireClearHeaders: RequestHandler = ({ headers, rawHeaders, httpVersion }, _response, next) => {
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new ServiceError('ValidationError', 'The header Host is missing.');
  }
  // Names and values in turn.
  const names = rawHeaders.filter((_, n) => n % 2 === 0);
  const count = (name: string) => names.filter((one) => one.toLowerCase() === name.toLowerCase()).length;
  const twice = ONCE.find((name) => count(name) > 1);
  if (twice !== undefined) throw new ServiceError('ValidationError', `The header ${twice} came more than once.`);
  next();
};
