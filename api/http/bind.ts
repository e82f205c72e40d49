import { isUtf8 } from 'node:buffer';
import express, { Router, type Request, type RequestHandler, type Response } from 'express';
import { parseIdempotencyKey, parseRequest } from '../../src/contract/request';
import { ROUTES, type OperationId, type Route } from '../../src/contract/routes';
import { ServiceError } from '../../src/errors';
import type { Logger } from '../../src/log';
import { answer, notModified } from './answer';
import type { Caller } from './authenticate';
import type { Context, KeyUse, Operation, Operations, Versioned } from '../context';
import { WITHOUT_KEY, answerOnce, refuseTaken, requestHash, type KeyStore } from './idempotency';
import type { RateLimit } from './rate-limit';
import { etagOf, isKnown } from './etag';

/** Bytes of a body (rules 18.2). */
export const BODY_BYTES_MAX = 256 * 1024;

/** What every route needs. */
export interface Bindings {
  readonly operations: Operations;
  /** Rejects with Unauthorized. */
  readonly authenticate: (header: string | undefined) => Promise<Caller>;
  readonly rateLimit: RateLimit;
  readonly keys: KeyStore;
  /** Milliseconds from a request's arrival to its deadline. */
  readonly deadline_ms: number;
  readonly log: Logger;
}

/** The routes table as an Express router: parses once, calls the operation, answers. */
export function bind(bindings: Bindings): Router {
  const router = Router({ caseSensitive: true });
  const ids = Object.keys(ROUTES) as OperationId[];
  for (const path of new Set(ids.map((id) => ROUTES[id].path))) {
    const route = router.route(path.replace(/\{(\w+)\}/g, ':$1'));
    const here = ids.filter((id) => ROUTES[id].path === path);
    for (const id of here) route[ROUTES[id].method](handle(id, bindings));
    route.all(otherMethods(here.map((id) => ROUTES[id].method)));
  }
  return router;
}

function handle<K extends OperationId>(
  id: K,
  { operations, authenticate, rateLimit, keys, deadline_ms, log }: Bindings,
): RequestHandler {
  const route: Route = ROUTES[id];
  // TypeScript loses the link between id and input in the table.
  const operation = operations[id] as Operation<K>;

  return async (request, response) => {
    const started = Date.now();
    const request_id = String(response.getHeader('X-Request-Id'));
    const { project, id: caller } = await authenticate(request.headers.authorization);
    rateLimit(caller, response);
    const { 'idempotency-key': key, 'if-match': if_match } = request.headers;
    const idempotency_key = route.method === 'post' && typeof key === 'string' ? parseIdempotencyKey(key) : undefined;
    const context: Context = {
      ...WITHOUT_KEY,
      project,
      request_id,
      deadline_at: started + deadline_ms,
      ...(idempotency_key !== undefined && { idempotency_key }),
      ...(if_match !== undefined && { if_match }),
      log: log.child({ request_id, project_id: project.id, operation: id }),
    };
    const read = async () => {
      const body = route.body ? await readBody(request, response, route.body_optional === true) : undefined;
      return { body, input: parseRequest(id, { params: request.params, query: request.query, body }) };
    };
    const { body, input } = await read().catch(async (error: unknown) => {
      if (idempotency_key !== undefined) await refuseTaken(keys, { project_id: project.id, key: idempotency_key });
      throw error;
    });
    if (idempotency_key === undefined) {
      send(request, response, route, await operation(context, input));
    } else {
      const { params, query } = input as { params?: unknown; query?: unknown };
      const request_hash = requestHash({ method: route.method, path: route.path, params, query, body });
      const work = async (use: KeyUse) => ({
        status: route.success,
        body: await operation({ ...context, ...use }, input),
      });
      const kept = await answerOnce(keys, { project_id: project.id, key: idempotency_key, request_hash }, work);
      answer(response, kept.status, kept.body);
    }
    context.log.debug({ ms: Date.now() - started }, 'answered');
  };
}

function send(request: Request, response: Response, route: Route, result: unknown): void {
  if (!route.etag) return answer(response, route.success, result);
  const { body, version } = result as Versioned<unknown>;
  response.setHeader('ETag', etagOf(version));
  if (route.method === 'get' && isKnown(request.headers['if-none-match'], version)) return notModified(response);
  answer(response, route.success, body);
}

/** OPTIONS lists the methods, the others are refused with the same list (rules 3.5). */
export function otherMethods(methods: readonly Route['method'][]): RequestHandler {
  const allow = [
    ...methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()])),
    'OPTIONS',
  ].join(', ');
  return (request, response) => {
    response.setHeader('Allow', allow);
    if (request.method !== 'OPTIONS') throw new ServiceError('MethodNotAllowed', `Expected one of ${allow}.`);
    response.statusCode = 204;
    response.end();
  };
}

const readBytes = express.raw({ limit: BODY_BYTES_MAX, type: () => true });

/** The JSON of a request, `{}` where an optional body is missing. Runs after authentication, so that a stranger's body is not read. */
async function readBody(request: Request, response: Response, optional: boolean): Promise<unknown> {
  await new Promise<void>((resolve, reject) => {
    readBytes(request, response, (error?: unknown) => (error ? reject(error as Error) : resolve()));
  });
  const bytes: unknown = request.body;
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) {
    if (optional) return {};
    throw new ServiceError('ValidationError', 'Expected a JSON object as body.');
  }
  // Not checked without a body: clients send the type by habit.
  const type = request.headers['content-type'];
  const isJson = type === undefined ? optional : /^\s*application\/json\s*(;|$)/i.test(type);
  if (!isJson) throw new ServiceError('UnsupportedMediaType', 'Expected Content-Type: application/json.');
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type ?? '') ?? [];
  if (!/^utf-?8$/i.test(charset)) throw new ServiceError('UnsupportedMediaType', 'The body is not in UTF-8.');
  return jsonOf(bytes);
}

/** Text that is not UTF-8 is refused: read anyway, it would be stored altered. */
function jsonOf(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new ServiceError('ValidationError', 'The body is not valid UTF-8.');
  try {
    // Drops the byte order mark that some systems begin a text with.
    return JSON.parse(bytes.toString().replace(/^\ufeff/, ''));
  } catch {
    throw new ServiceError('ValidationError', 'The body is not valid JSON.');
  }
}
