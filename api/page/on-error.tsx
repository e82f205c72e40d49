import type { ErrorRequestHandler } from 'express';
import { idParam } from '../../src/contract/scalars';
import { ERRORS } from '../../src/errors';
import type { Logger } from '../../src/log';
import { answerError, answerErrors } from '../http/errors';
import type { Texts } from './languages';
import { prefersJson, readerOf } from './reader';
import { send } from './show';
import { ProblemPage } from './views/problem-page';

type Problem = keyof Texts['problems'];

/** Browsers get an error page, programs get the API's errors. */
export function onPageError(log: Logger, base: string): ErrorRequestHandler {
  return answerErrors(log, (error, request, response) => {
    if (prefersJson(request)) return answerError(response, error);
    const { status } = ERRORS[error.error];
    const reader = readerOf(request);
    const problem: Problem = status in reader.texts.problems ? (status as Problem) : status < 500 ? 400 : 503;
    send(
      response,
      status,
      <ProblemPage
        reader={reader}
        base={base}
        is_test={false}
        problem={problem}
        page={problem === 404 ? undefined : pageOf(request.path, base)}
      />,
    );
  });
}

/** The order's page, if the request was about an order. */
function pageOf(path: string, base: string): string | undefined {
  const id = idParam().safeParse(path.split('/').find((part) => idParam().safeParse(part).success));
  return id.success ? `${base}/pay/${id.data}/` : undefined;
}
