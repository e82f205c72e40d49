import type { RequestHandler, Response } from 'express';
import type { Config } from '../../src/config';
import type { Logger } from '../../src/log';

/**
 * Fields of a request's line, by name: the operation, the caller, and ids of objects. Texts of clients do not belong
 * here.
 */
type Fields = Readonly<Record<string, string>>;

/** Adds fields to the line of a request. */
export function noteRequest(response: Response, fields: Fields): void {
  response.locals['logged'] = { ...(response.locals['logged'] as Fields | undefined), ...fields };
}

/**
 * Logs one line for each request once it is answered, or its connection closed before: request id, method, status,
 * milliseconds, and what `noteRequest` adds. Never a path, a header or a body. `errors` logs answers from 400 on and
 * those that were not sent whole.
 */
export function logRequests(log: Logger, which: Config['LOG_REQUESTS']): RequestHandler {
  return ({ method }, response, next) => {
    if (which === 'none') return next();
    const began = performance.now();
    response.once('close', () => {
      const { statusCode: status, writableFinished: was_sent } = response;
      if (which === 'errors' && was_sent && status < 400) return;
      log.info(
        {
          request_id: response.getHeader('X-Request-Id'),
          ...(response.locals['logged'] as Fields | undefined),
          method,
          status,
          ms: Math.round(performance.now() - began),
          ...(!was_sent && { is_incomplete: true }),
        },
        'request answered',
      );
    });
    next();
  };
}
