import type { z } from 'zod';
import type { ErrorName } from '../errors';

/**
 * One operation: Express routes, request parsing, handler types and the OpenAPI document are computed from it.
 * Paths are written with the trailing slash; the service answers without it too (rules 1.1).
 */
export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  readonly path: string;
  /** Heading in the documentation. */
  readonly summary: string;
  /** A paragraph below it. */
  readonly description: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** The request may have no body, which is then read as `{}` (rules 1.10). */
  readonly body_optional?: boolean;
  readonly output: z.ZodType;
  /** A POST that changes nothing, like a GET. */
  readonly reads_only?: true;
  /** A GET that adds an entry to the audit trail: it changes nothing else, but is no read during a restore (rules 28.1). */
  readonly adds_audit_entry?: true;
  /** The answer is the object of the path: it carries its ETag, and a GET with If-None-Match may be answered 304. */
  readonly etag?: true;
  /**
   * Heeds the preference `wait`: the answer waits for a change of the order's status or an event (rules 5.12, 13.19).
   */
  readonly waits?: true;
  /** The answer may also be this kind of file. */
  readonly file?: 'text/csv';
  /** The answer may be sent while it is made. */
  readonly stream?: true;
  /** The object of the path has no versions. */
  readonly ignores_if_match?: true;
  /** Clients of a merchant may not call it. */
  readonly operators_only?: true;
  /** The answer shows a secret once, about the object whose id is in this field: a repeat is refused (rules 11.10). */
  readonly secret_owner_field?: string;
  /** Status of a success other than 200; 204: without a body. */
  readonly success?: 201 | 204;
  /** Errors of the operation itself; errorsOf adds those of every operation. */
  readonly errors?: readonly ErrorName[];
}

/** Errors that any operation can answer with. */
const EVERYWHERE = [
  'ValidationError',
  'Unauthorized',
  // At least of a request by plain http (rules 2.5).
  'Forbidden',
  'TooManyRequests',
  'ServerError',
  'ServiceUnavailable',
] as const satisfies readonly ErrorName[];
/** Errors of operations that take a body. */
const WITH_BODY = ['PayloadTooLarge', 'UnsupportedMediaType'] as const satisfies readonly ErrorName[];

/** Whether the operation changes the object of its path, and so heeds If-Match. */
export function changesObject({
  method,
  path,
  ignores_if_match,
}: Pick<Route, 'method' | 'path' | 'ignores_if_match'>): boolean {
  return method !== 'get' && path.includes('{') && ignores_if_match !== true;
}

/** Whether a request may carry an Idempotency-Key (rules 11.1). */
export function takesIdempotencyKey(route: Pick<Route, 'method' | 'reads_only'>): boolean {
  return !readsOnly(route);
}

/** Whether the operation changes nothing, so that it may always be sent again. */
export function readsOnly({ method, reads_only }: Pick<Route, 'method' | 'reads_only'>): boolean {
  return method === 'get' || reads_only === true;
}

/** The status of a success. */
export const successOf = ({ success }: Route): number => success ?? 200;

/** Every error an operation can answer with, each once. */
export function errorsOf(route: Route): ErrorName[] {
  const { errors = [], body } = route;
  const byHeader: ErrorName[] = [
    ...(changesObject(route) ? ['PreconditionFailed' as const] : []),
    ...(takesIdempotencyKey(route) ? ['IdempotencyKeyReused' as const] : []),
    ...(route.secret_owner_field === undefined ? [] : ['Conflict' as const]),
  ];
  return [...new Set<ErrorName>([...errors, ...byHeader, ...(body ? WITH_BODY : []), ...EVERYWHERE])];
}

type Parsed<R, Part extends 'params' | 'query' | 'body'> = R extends { readonly [P in Part]: infer S extends z.ZodType }
  ? { [P in Part]: z.output<S> }
  : unknown;

/** The parts that a request may have. */
export type RequestParts = Pick<Route, 'params' | 'query' | 'body'>;

/** The input of an operation: the parts of the request it declares, parsed. */
export type Input<R extends RequestParts> = Parts & Parsed<R, 'params'> & Parsed<R, 'query'> & Parsed<R, 'body'>;

interface Parts {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

/** The answer of an operation. */
export type Output<R extends Route> = z.output<R['output']>;

/** An example of each operation for the documentation; the tests parse each with its schemas. */
export type Examples<Routes extends Record<string, Route>> = {
  readonly [K in keyof Routes]: { readonly answer: Output<Routes[K]> } & Sent<Routes[K], 'params'> &
    Sent<Routes[K], 'body'>;
};

type Sent<R, Part extends 'params' | 'body'> = R extends { readonly [P in Part]: infer S extends z.ZodType }
  ? { readonly [P in Part]: z.input<S> }
  : unknown;

/** How the callers of an API prove who they are: a scheme of the header Authorization. */
export interface Security {
  /** Its name in the OpenAPI document. */
  readonly name: string;
  readonly scheme: 'basic' | 'bearer';
  /** The header WWW-Authenticate of a 401. */
  readonly challenge: string;
  readonly description: string;
  /** The token endpoint of a bearer token. */
  readonly token?: { readonly path: string; readonly scope: string };
}

/** A heading of the documentation. */
export interface Tag {
  readonly name: string;
  readonly description: string;
  readonly routes: Readonly<Record<string, Route>>;
}

/**
 * The API of one host: operations and documentation texts. Routing, authentication, the OpenAPI document and the
 * documentation are generated from it.
 */
export interface RouteSet<Routes extends Record<string, Route> = Record<string, Route>> {
  readonly name: string;
  readonly description: string;
  readonly security: Security;
  readonly routes: Routes;
  /** Headings of the documentation, each with the routes below it. */
  readonly tags?: readonly Tag[];
  /** Named schemas of the OpenAPI document: each is written once and referenced elsewhere. */
  readonly schemas: Readonly<Record<string, z.ZodType>>;
  readonly examples: Readonly<Record<keyof Routes, { readonly body?: unknown; readonly answer: unknown }>>;
  /** Requests that the service sends, as OpenAPI describes them: webhooks. */
  readonly webhooks: Readonly<Record<string, unknown>>;
}
