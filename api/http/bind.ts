import { Router, type Request, type RequestHandler, type Response } from 'express';
import type { ErrorAnswer } from '../../src/contract/error';
import { parseIdempotencyKey, parseRequest } from '../../src/contract/request';
import {
  changesObject,
  readsOnly,
  successOf,
  takesIdempotencyKey,
  type Input,
  type Route,
  type RouteSet,
} from '../../src/contract/routes';
import type { KeptAnswer } from '../../src/db/requests/idempotency-keys';
import { acceptRequest } from '../../src/domain/accepted-request';
import { ServiceError } from '../../src/errors';
import type { Logger } from '../../src/log';
import { Stream, carryOut, type Caller, type RequestContext, type Versioned, type Work } from '../operation';
import { answer, answerEmpty, answerStream } from './answer';
import { noteReadsOnly } from './errors';
import { etagOf, isKnown, versionsOf } from './etag';
import { answerOnce, refuseTaken, requestHashes, secretShown, type KeyStore, type Reply } from './idempotency';
import type { Intake } from './intake';
import type { RateLimit } from './rate-limit';
import { noteAnswer, noteRequest } from './answered-request';
import { waitPreferenceOf } from './prefer';
import { RequestBodies } from './request-body';
import { READ_NOT_IN_TIME, requestSignal } from './request-signal';

/** An API as it is served: its routes, its operations and its kind of caller. */
export interface Api<C extends Caller> {
  readonly routes: RouteSet;
  readonly operations: Readonly<Record<string, (context: RequestContext<C>, input: never) => Promise<unknown>>>;
  /** Checks the header Authorization. Rejects with Unauthorized. */
  readonly authenticate: (header: string | undefined) => Promise<C>;
  /** Where the Idempotency-Keys of a caller are kept. */
  readonly keysOf: (caller: C) => KeyStore;
}

/** Services that every route needs. */
interface Limits {
  readonly rateLimit: RateLimit;
  /** Milliseconds from a request's arrival to its deadline. */
  readonly deadline_ms: number;
  readonly log: Logger;
  /** Absent: everything is accepted. */
  readonly intake?: Intake | undefined;
}

/**
 * The routes of an API as an Express router: authenticates and parses a request, calls the operation and sends its
 * answer.
 */
export function bind<C extends Caller>(api: Api<C>, limits: Limits): Router {
  const router = Router({ caseSensitive: true });
  const routes = Object.entries(api.routes.routes);
  const bodies = new RequestBodies(limits.rateLimit);
  for (const path of new Set(routes.map(([, route]) => route.path))) {
    const handlers = router.route(path.replace(/\{(\w+)\}/g, ':$1'));
    const here = routes.filter(([, route]) => route.path === path);
    for (const [id, route] of here) handlers[route.method](handle(id, route, api, { ...limits, bodies }));
    handlers.all(otherMethods(here.map(([, { method }]) => method)));
  }
  return router;
}

function handle<C extends Caller>(
  id: string,
  route: Route,
  api: Api<C>,
  limits: Limits & { readonly bodies: RequestBodies },
): RequestHandler {
  const operation = api.operations[id];
  if (operation === undefined) throw new Error(`there is no operation ${id}`);

  return async (request, response) => {
    const started = Date.now();
    noteRequest(response, { operation: id });
    if (readsOnly(route)) noteReadsOnly(response);
    const authenticate = async () => {
      const known = await api.authenticate(request.headers.authorization);
      noteRequest(response, known.log);
      return known;
    };
    const requireOpen = () => {
      if (!readsOnly(route) || route.adds_audit_entry) limits.intake?.requireOpen();
    };
    const sender = await authenticate();
    limits.rateLimit.admit(sender.id, response);
    requireOpen();
    const key = takesIdempotencyKey(route) ? idempotencyKeyOf(request) : undefined;
    if (key !== undefined) noteAnswer(response, { idempotency_key: key });
    const keys = api.keysOf(sender);
    const send = (reply: KeptAnswer) =>
      sendReply(request, response, { route, restored_at: limits.intake?.restored_at ?? 0 }, reply);
    const readBody = (optional: boolean) =>
      limits.bodies.read(request, response, { caller: sender.id, deadline_at: started + limits.deadline_ms, optional });
    const { body, input } = await readRequest(route, request, readBody).catch(async (error: unknown) => {
      noteRequest(response, idsOf(validParams(route, request), sender));
      // One whose body was not read may be the request that has the key.
      const wasRead = !(error instanceof ServiceError && error.error === 'TooManyRequests');
      if (key !== undefined && wasRead) await refuseTaken(keys, key);
      throw error;
    });
    // While the body came a restore may have begun, the project been suspended, or the key been revoked.
    const caller = readsOnly(route) && !route.body ? sender : await authenticate();
    requireOpen();
    noteRequest(response, idsOf((input.params ?? {}) as Readonly<Record<string, string>>, caller));
    const context = contextOf(route, request, response, { caller, key, started, id }, limits);
    if (readsOnly(route)) {
      const result = await operation(context, input as never);
      // While it waited the key may have been revoked.
      if (context.wait !== undefined) await authenticate();
      const { deadline_at } = context.request;
      const options = { status: successOf(route), deadline_at };
      if (result instanceof Stream) await answerStream(request, response, options, result);
      else send(replyOf(route, result));
    } else {
      const prepare = async (claimed_at: number | undefined) => {
        const repeat = claimed_at !== undefined && { is_repeat: true, first_received_at: claimed_at };
        const repeated = repeat ? { ...context, request: { ...context.request, ...repeat } } : context;
        const work = await operation(repeated, input as never);
        return replying(route, work as Work<unknown>, context);
      };
      const onRepeat = () => noteAnswer(response, { is_repeat: true });
      const reply =
        key === undefined
          ? await carryOut(await prepare(undefined))
          : await answerOnce(
              keys,
              { key, request_hashes: requestHashes(keys.secrets, route, input, body), onRepeat },
              prepare,
            );
      send(reply);
    }
  };
}

/** The ids in the path by name. One whose name is that of the request's own id or of its caller is the `object_id`. */
function idsOf(params: Readonly<Record<string, string>>, { log }: Caller): Readonly<Record<string, string>> {
  const isTaken = (name: string) => name === 'request_id' || Object.hasOwn(log, name);
  return Object.fromEntries(Object.entries(params).map(([name, id]) => [isTaken(name) ? 'object_id' : name, id]));
}

/** The ids in the path of a request that is refused, unless one of them is wrong. */
function validParams({ params }: Route, request: Request): Readonly<Record<string, string>> {
  const parsed = params?.safeParse(request.params);
  return parsed?.success ? (parsed.data as Record<string, string>) : {};
}

function idempotencyKeyOf(request: Request): string | undefined {
  const key = request.headers['idempotency-key'];
  return typeof key === 'string' ? parseIdempotencyKey(key) : undefined;
}

function contextOf<C extends Caller>(
  route: Route,
  request: Request,
  response: Response,
  { caller, key, started, id }: { caller: C; key: string | undefined; started: number; id: string },
  { rateLimit, deadline_ms, log, intake }: Limits,
): RequestContext<C> {
  const request_id = String(response.getHeader('X-Request-Id'));
  const restored_at = intake?.restored_at ?? 0;
  const wait = route.waits ? waitPreferenceOf(request, response, { received_at: started, restored_at }) : undefined;
  return {
    caller,
    wait,
    request: acceptRequest({
      request_id,
      received_at: started,
      deadline_at: started + deadline_ms,
      has_idempotency_key: key !== undefined,
      versions: changesObject(route) ? versionsOf(request.headers['if-match'], restored_at) : undefined,
    }),
    idempotency_key: key,
    spend: (tokens) => rateLimit.spend(caller.id, tokens),
    // Made for the few operations that heed it.
    get signal() {
      return requestSignal(response, started + deadline_ms, READ_NOT_IN_TIME).signal;
    },
    // Few operations write lines of their own, and a logger holds much for a request that waits.
    get log() {
      return log.child({ request_id, ...caller.log, operation: id });
    },
  };
}

/** The answer as it is sent and, with an Idempotency-Key, stored; an answer with an unknown outcome is not stored. */
function replyOf(route: Route, result: unknown): Reply {
  const status = successOf(route);
  if (status === 204) return { status, body: null };
  if (!route.etag) return { status, body: result };
  const { body, version, is_unknown = false } = result as Versioned<unknown>;
  return { status, body, version, ...(is_unknown && { kept: null }) };
}

/** An answer that shows a secret is sent, and a refusal kept in its place. */
function replyToWrite(route: Route, result: unknown): Reply {
  const reply = replyOf(route, result);
  const { secret_owner_field: field } = route;
  if (field === undefined) return reply;
  return { ...reply, kept: secretShown(String((result as Record<string, unknown>)[field])) };
}

function replying(route: Route, work: Work<unknown>, { wait }: Pick<RequestContext<Caller>, 'wait'>): Work<Reply> {
  if (typeof work === 'function') {
    return async () => {
      const reply = replyToWrite(route, await work());
      // A client that left during its wait has no answer: its repeat waits again.
      return wait?.hasLeft() === true ? { ...reply, kept: null } : reply;
    };
  }
  if ('refusal' in work) return work;
  return { ...work, write: async (trx) => replyToWrite(route, await work.write(trx)) };
}

function sendReply(
  request: Request,
  response: Response,
  { route, restored_at }: { route: Route; restored_at: number },
  { status, body, version }: KeptAnswer,
): void {
  if (version !== undefined) {
    response.setHeader('ETag', etagOf(version, restored_at));
    const known = request.headers['if-none-match'];
    if (route.method === 'get' && isKnown(known, version, restored_at)) return answerEmpty(response, 304);
  }
  const { id, error } = (body ?? {}) as { id?: unknown; error?: ErrorAnswer['error'] };
  if (typeof id === 'string') noteRequest(response, { object_id: id });
  // A refusal that is kept for repeats of the request.
  if (status >= 400) noteAnswer(response, { error });
  if (status === 204) answerEmpty(response, status);
  else answer(response, status, body);
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

/** The parts of the request as the operation takes them, and the body as it was sent. */
async function readRequest(
  route: Route,
  request: Request,
  readBody: (optional: boolean) => Promise<unknown>,
): Promise<{ body: unknown; input: Input<Route> }> {
  const body = route.body ? await readBody(route.body_optional === true) : undefined;
  return { body, input: parseRequest(route, { params: request.params, query: request.query, body }) };
}
