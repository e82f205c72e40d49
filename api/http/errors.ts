import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler, Request, Response } from 'express';
import type { ErrorAnswer } from '../../src/contract/error';
import { isUnavailable } from '../../src/db/availability';
import { ERRORS, OutcomeUnknown, ServiceError, errorTypeOf, type ErrorName } from '../../src/errors';
import type { Logger } from '../../src/log';
import { answer } from './answer';
import { noteAnswer } from './answered-request';

/** When a request that was not answered in time may be sent again, in seconds. */
const RETRY_AFTER_SECONDS = 1;

/** Headers sent with an error (rules 3.5). `Allow` is set where the methods are known. */
const HEADERS: Partial<Record<ErrorName, Readonly<Record<string, string>>>> = {
  // At one token or more a second, the next is never further away.
  TooManyRequests: { 'Retry-After': '1' },
  ServiceUnavailable: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
};

/** The body of an error, made only here (rules 3.1). */
export function errorBody(error: ServiceError): ErrorAnswer {
  const [first] = error.fields;
  return {
    error: {
      status: ERRORS[error.error].status,
      type: errorTypeOf(error.error),
      value: error.value,
      ...(first && { property_path: first.path, property_description: first.text, details: [...error.fields] }),
    },
  };
}

/** The API's error handler: the error as JSON. `challenge`: the header WWW-Authenticate of a 401. */
export function onError(log: Logger, challenge: string): ErrorRequestHandler {
  return answerErrors(log, (error, _request, response) => {
    if (error.error === 'Unauthorized') response.setHeader('WWW-Authenticate', challenge);
    answerError(response, error);
  });
}

/**
 * Express's error handler; `show` writes the error, its headers are set. Any other error becomes a ServerError with a
 * fixed text; its details are in the log only, without the request, which may contain a card number.
 */
export function answerErrors(
  log: Logger,
  show: (error: ServiceError, request: Request, response: Response) => void,
): ErrorRequestHandler {
  return (thrown: unknown, request, response, _next) => {
    const error = declaredErrorOf(thrown, { is_read: isRead(request, response) });
    if (isUnavailable(thrown)) {
      log.warn({ request_id: response.getHeader('X-Request-Id'), err: details(thrown) }, 'the database did not answer');
    } else if (error === undefined) {
      log.error({ request_id: response.getHeader('X-Request-Id'), err: details(thrown) }, 'request failed');
    }
    if (response.headersSent) {
      // A partial answer must not look complete.
      response.destroy();
      return;
    }
    const known = error ?? new ServiceError('ServerError', ERRORS.ServerError.meaning);
    // The outcome is unknown. Send Retry-After only when the request is idempotent.
    const headers = known instanceof OutcomeUnknown && !isRepeatable(request) ? {} : HEADERS[known.error];
    for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value);
    show(known, request, response);
  };
}

/** Has a POST that only reads be answered as such when it fails. */
export function noteReadsOnly(response: Response): void {
  response.locals['reads_only'] = true;
}

const isRead = ({ method }: Request, { locals }: Response): boolean =>
  method === 'GET' || method === 'HEAD' || locals['reads_only'] === true;

/** Whether a request, sent twice, is carried out once. */
function isRepeatable(request: Request): boolean {
  return request.method !== 'POST' || request.headers['idempotency-key'] !== undefined;
}

/** Answers with the error as JSON. */
export function answerError(response: Response, error: ServiceError): void {
  const body = errorBody(error);
  noteAnswer(response, body);
  answer(response, body.error.status, body);
}

/** Requests that Node refuses before they reach Express, by the `code` of its error. */
const REFUSED_BY_NODE: Readonly<Record<string, ServiceError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new ServiceError('RequestTimeout', ERRORS.RequestTimeout.meaning),
  HPE_HEADER_OVERFLOW: new ServiceError('RequestHeaderFieldsTooLarge', ERRORS.RequestHeaderFieldsTooLarge.meaning),
};
const MALFORMED = new ServiceError('ValidationError', 'The request is not valid HTTP.');

/** The whole answer, as text, to a request that Node refused. */
export function answerToRefused({ code }: { code?: string | undefined }): string {
  const error = REFUSED_BY_NODE[code ?? ''] ?? MALFORMED;
  const content = JSON.stringify(errorBody(error));
  const { status } = ERRORS[error.error];
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(content)}`,
    `X-Request-Id: ${randomUUID()}`,
    'Connection: close',
    '',
    content,
  ].join('\r\n');
}

/** Fields of a form of the hosted page (rules 18.2). */
export const FORM_FIELDS_MAX = 20;

/** Errors of Express and its body parser, by their `type`. */
const BY_TYPE: Readonly<Record<string, [ErrorName, string]>> = {
  'parameters.too.many': ['PayloadTooLarge', `The form has more than ${FORM_FIELDS_MAX} fields.`],
  'encoding.unsupported': ['UnsupportedMediaType', 'The Content-Encoding is not supported.'],
  'charset.unsupported': ['UnsupportedMediaType', 'The charset is not supported.'],
  'request.size.invalid': ['ValidationError', 'The body is not as long as Content-Length says.'],
  'request.aborted': ['ValidationError', 'The request ended early.'],
};

/** `undefined` for an undeclared error. */
function declaredErrorOf(thrown: unknown, { is_read }: { is_read: boolean }): ServiceError | undefined {
  if (thrown instanceof ServiceError) return thrown;
  if (!(thrown instanceof Error)) return undefined;
  if (isUnavailable(thrown)) {
    if (is_read) return new ServiceError('ServiceUnavailable', 'The database did not answer.');
    return new OutcomeUnknown(
      'The database did not answer. The request may have been carried out: wait two minutes, then check that before ' +
        'you send it again without an Idempotency-Key.',
    );
  }
  if (thrown instanceof URIError) return new ServiceError('ValidationError', 'The path is not valid percent-encoding.');
  const { type, status, limit } = thrown as { type?: unknown; status?: unknown; limit?: unknown };
  if (type === 'entity.too.large') {
    return new ServiceError('PayloadTooLarge', `The body is larger than ${Number(limit) / 1024} KiB.`);
  }
  const known = typeof type === 'string' ? BY_TYPE[type] : undefined;
  if (known) return new ServiceError(...known);
  // Other errors of the body parser, for example a body that does not inflate.
  return typeof status === 'number' && status >= 400 && status < 500
    ? new ServiceError('ValidationError', 'The request cannot be read.')
    : undefined;
}

/** An error for the log. Selected fields only: errors of libraries may carry the body of a request. */
function details(thrown: unknown): Record<string, unknown> {
  if (!(thrown instanceof Error)) return { message: `thrown: ${typeof thrown}` };
  const { code } = thrown as { code?: unknown };
  return {
    type: thrown.name,
    message: thrown.message,
    stack: thrown.stack,
    ...(typeof code === 'string' && { code }),
    ...(thrown.cause !== undefined && { cause: details(thrown.cause) }),
  };
}
