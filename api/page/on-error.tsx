import type { ErrorRequestHandler } from 'express';
import { idParam } from '../../src/contract/scalars';
import { isAway } from '../../src/db/connection';
import { ERRORS, ServiceError } from '../../src/errors';
import type { Logger } from '../../src/log';
import { details, onError } from '../on-error';
import { send } from './answer';
import { isProgram, readerOf } from './reader';
import type { Texts } from './languages';
import { ProblemPage } from './views/problem-page';

type Problem = keyof Texts['problems'];

/**
 * Browsers get an error page, programs get the API's errors. Undeclared errors are logged without the request, which may hold a
 * card number.
 */
export function onPageError(log: Logger, base: string): ErrorRequestHandler {
  const toProgram = onError(log);
  return (thrown: unknown, request, response, next) => {
    if (isProgram(request)) {
      void toProgram(thrown, request, response, next);
      return;
    }
    const status = statusOf(thrown);
    if (status === undefined) log.error({ request_id: response.getHeader('X-Request-Id'), err: details(thrown) }, 'page failed');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const shown = status ?? (isAway(thrown) ? 503 : 500);
    const reader = readerOf(request);
    const problem: Problem = shown in reader.texts.problems ? (shown as Problem) : shown < 500 ? 400 : 503;
    send(response, shown, <ProblemPage reader={reader} base={base} is_test={false} problem={problem} page={problem === 404 ? undefined : pageOf(request.path, base)} />);
  };
}

/** `undefined` for an undeclared error. */
function statusOf(thrown: unknown): number | undefined {
  if (thrown instanceof ServiceError) return ERRORS[thrown.error].status;
  if (thrown instanceof URIError) return 400;
  // Errors of the body parser.
  const { status } = (thrown ?? {}) as { status?: unknown };
  return typeof status === 'number' && status >= 400 && status < 500 ? status : undefined;
}

/** The order's page, if the request was about an order. */
function pageOf(path: string, base: string): string | undefined {
  const id = idParam().safeParse(path.split('/').find((part) => idParam().safeParse(part).success));
  return id.success ? `${base}/pay/${id.data}/` : undefined;
}
