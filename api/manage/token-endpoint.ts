import { isUtf8 } from 'node:buffer';
import express, { Router, type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express';
import { z } from 'zod';
import { TOKEN_PATH, TOKEN_SCOPE } from '../../src/contract/manage/manage-api';
import { isUnavailable } from '../../src/db/availability';
import { findOAuthClient, noteClientUse, secretsOfClient, type OAuthClient } from '../../src/db/projects/oauth-clients';
import { incrementCounter } from '../../src/metrics/recorder';
import { answer } from '../http/answer';
import { noteRequest } from '../http/answered-request';
import { otherMethods } from '../http/bind';
import { networkOf } from '../http/rate-limit';
import { createFailureLimit } from './failure-limit';
import type { ManageServices } from './manager';
import { TOKEN_SECONDS, type Tokens } from './tokens';

/** Far more than the form needs. */
const FORM_BYTES_MAX = 8 * 1024;
/** Failures per minute: of one client, and of one address (rules 21.7). */
const CLIENT_FAILURES_MAX = 10;
const ADDRESS_FAILURES_MAX = 30;

interface TokenServices extends Pick<ManageServices, 'db' | 'secrets'> {
  tokens: Tokens;
  /** Address of this host, without a slash at its end. */
  issuer: string;
}

/** An error of OAuth 2.0 (RFC 6749, 5.2), in its own shape. */
class OAuthError extends Error {
  constructor(
    readonly error: 'invalid_request' | 'invalid_client' | 'unsupported_grant_type' | 'invalid_scope' | 'slow_down',
    readonly description: string,
    readonly retry_after_seconds?: number,
  ) {
    super(description);
  }
}

const STATUSES = {
  invalid_request: 400,
  invalid_client: 401,
  unsupported_grant_type: 400,
  invalid_scope: 400,
  slow_down: 429,
} as const;

/** The token endpoint, the key set and the metadata of OAuth 2.0 (rules 21.2, 21.3). */
export function tokenEndpoint(services: TokenServices): Router {
  const { tokens, issuer } = services;
  const countFailure = createFailureCount();
  const router = Router({ caseSensitive: true });

  const giveToken: RequestHandler = async (request, response) => {
    noteRequest(response, { operation: 'create_token' });
    const form = formOf(request);
    const grant_type = valueOf(form, 'grant_type');
    if (grant_type === undefined) throw new OAuthError('invalid_request', 'grant_type is missing.');
    if (grant_type !== 'client_credentials') {
      throw new OAuthError('unsupported_grant_type', 'Expected grant_type=client_credentials.');
    }
    const client = await authenticated(services, countFailure, credentialsOf(request, form), networkOf(request));
    if (valueOf(form, 'scope') !== TOKEN_SCOPE) throw new OAuthError('invalid_scope', `Expected scope=${TOKEN_SCOPE}.`);
    const now = Date.now();
    await noteClientUse(services.db, client.client_id, new Date(now));
    const access_token = await tokens.issue(client, now);
    answer(response, 200, { token_type: 'Bearer', expires_in: TOKEN_SECONDS, access_token });
  };

  const readForm = express.raw({ limit: FORM_BYTES_MAX, type: () => true });
  router
    .route(TOKEN_PATH)
    .post(readForm, giveToken)
    .all(otherMethods(['post']));
  router.use(TOKEN_PATH, answerOAuthErrors);
  router
    .route('/.well-known/jwks.json')
    .get(async (_request, response) => answer(response, 200, await tokens.keySet(Date.now())))
    .all(otherMethods(['get']));
  router
    .route('/.well-known/oauth-authorization-server')
    .get((_request, response) => answer(response, 200, metadataOf(issuer)))
    .all(otherMethods(['get']));
  return router;
}

const metadataOf = (issuer: string) => ({
  issuer,
  token_endpoint: `${issuer}${TOKEN_PATH}`,
  jwks_uri: `${issuer}/.well-known/jwks.json`,
  grant_types_supported: ['client_credentials'],
  response_types_supported: [],
  scopes_supported: [TOKEN_SCOPE],
  token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
  service_documentation: `${issuer}/docs/`,
});

function formOf(request: Request): URLSearchParams {
  const type = request.headers['content-type'] ?? '';
  if (!/^\s*application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) {
    throw new OAuthError('invalid_request', 'Expected Content-Type: application/x-www-form-urlencoded.');
  }
  const body: unknown = request.body;
  if (!Buffer.isBuffer(body) || !isUtf8(body)) throw new OAuthError('invalid_request', 'The body is not a form.');
  return new URLSearchParams(body.toString());
}

/** A parameter without a value counts as absent, a repeated one is refused (RFC 6749, 3.2). */
function valueOf(form: URLSearchParams, name: string): string | undefined {
  const values = form.getAll(name);
  if (values.length > 1) throw new OAuthError('invalid_request', `${name} came more than once.`);
  return values[0] === '' ? undefined : values[0];
}

interface Credentials {
  client_id: string;
  client_secret: string;
}

/** From the body or from Basic, in one way only (RFC 6749, 2.3). */
function credentialsOf({ headers: { authorization } }: Request, form: URLSearchParams): Credentials {
  const [id, secret] = [valueOf(form, 'client_id'), valueOf(form, 'client_secret')];
  if (authorization === undefined) {
    if (id === undefined || secret === undefined) {
      throw new OAuthError('invalid_client', 'client_id or client_secret is missing.');
    }
    return { client_id: id, client_secret: secret };
  }
  if (secret !== undefined) throw new OAuthError('invalid_request', 'The credentials came in two ways.');
  const [, encoded = ''] = /^Basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization) ?? [];
  const [, name, password] = /^([^:]+):([^]+)$/.exec(Buffer.from(encoded, 'base64').toString()) ?? [];
  if (name === undefined || password === undefined) {
    throw new OAuthError('invalid_client', 'Expected Authorization: Basic with client_id and client_secret.');
  }
  const credentials = { client_id: formDecoded(name), client_secret: formDecoded(password) };
  if (id !== undefined && id !== credentials.client_id) {
    throw new OAuthError('invalid_request', 'The client_id of the form is another one.');
  }
  return credentials;
}

/** Both parts are encoded as a form is (RFC 6749, 2.3.1). */
function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new OAuthError('invalid_client', 'The credentials are not valid percent-encoding.');
  }
}

/**
 * The client with this secret. The secret is always checked, so that failed attempts of others lock no client out; a
 * secret has 256 random bits, and its check is one look-up and a fast hash (rules 21.18). An unknown client and a wrong
 * secret are one answer.
 */
async function authenticated(
  { db, secrets }: TokenServices,
  countFailure: (address: string, client_id: string | undefined) => number,
  { client_id, client_secret }: Credentials,
  address: string,
): Promise<OAuthClient> {
  const now = new Date();
  const id = z.guid().safeParse(client_id).data?.toLowerCase();
  const known = id === undefined ? [] : await secretsOfClient(db, id, now);
  const isRight = known.filter((secret) => secrets.matches(client_secret, secret)).length > 0;
  const client = isRight && id !== undefined ? await findOAuthClient(db, id, now) : undefined;
  if (client !== undefined) return client;
  const wait_seconds = countFailure(address, id);
  if (wait_seconds > 0) {
    incrementCounter('payments_http_requests_refused_total', { limit: 'failed_sign_ins' });
    throw new OAuthError('slow_down', 'Too many failed token requests.', wait_seconds);
  }
  throw new OAuthError('invalid_client', 'The client does not exist, or its secret is wrong.');
}

/** Counts the failures of an address and of a client. A text that is no id belongs to no client. */
function createFailureCount() {
  const ofAddress = createFailureLimit(ADDRESS_FAILURES_MAX);
  const ofClient = createFailureLimit(CLIENT_FAILURES_MAX);
  return (address: string, client_id: string | undefined): number => {
    const now = Date.now();
    return ofAddress(address, now) || (client_id === undefined ? 0 : ofClient(client_id, now));
  };
}

/** Errors of the token endpoint in OAuth's format; errors of the service go to the error handler of the host. */
const answerOAuthErrors: ErrorRequestHandler = (thrown: unknown, _request, response: Response, next) => {
  const { status } = (thrown ?? {}) as { status?: unknown };
  const isUnreadable = typeof status === 'number' && status >= 400 && status < 500 && !isUnavailable(thrown);
  const error = isUnreadable ? new OAuthError('invalid_request', 'The request cannot be read.') : thrown;
  if (!(error instanceof OAuthError)) return next(thrown);
  if (error.error === 'invalid_client') response.setHeader('WWW-Authenticate', 'Basic realm="payments"');
  if (error.retry_after_seconds !== undefined) response.setHeader('Retry-After', String(error.retry_after_seconds));
  answer(response, STATUSES[error.error], { error: error.error, error_description: error.description });
};
