import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { z } from 'zod';
import type { Logger } from '../log';
import type { Problem } from '../processor/wire';

/** Thrown to refuse a request: the status and the Problem with the reason. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly field?: string,
  ) {
    super(message);
  }
}

/** No name or key contains NUL, and Postgres cannot store it: refuse such a request. */
export const withoutNul: RequestHandler = (req, _res, next) => {
  if (req.url.includes('%00') || holdsNul(req.body)) throw new Refusal(400, 'The request holds a NUL character.');
  next();
};

/** Whether a name or text of the value holds NUL. */
function holdsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\u0000');
  return typeof value === 'object' && value !== null && Object.entries(value).flat().some(holdsNul);
}

/** Any path without a route. */
export const refuseUnknownPath: RequestHandler = () => {
  throw new Refusal(404, 'No such path.');
};

/**
 * Every error as `{error, field}`. Details of unexpected errors are in the log only, and never with the request's body.
 */
export function answerProblem(log: Logger): ErrorRequestHandler {
  return (error: unknown, _req, res, _next) => {
    const refusal = error instanceof Refusal ? error : foreseen(error);
    if (!refusal) log.error({ err: error }, 'unexpected error');
    if (res.headersSent) return void res.socket?.destroy();
    const problem: Problem = {
      error: refusal?.message ?? 'Internal error.',
      ...(refusal?.field !== undefined && { field: refusal.field }),
    };
    res.status(refusal?.status ?? 500).json(problem);
  };
}

/**
 * Errors of Express and its body parser (malformed JSON, too large, bad %-escape): their own texts could repeat the
 * body.
 */
function foreseen(error: unknown): Refusal | undefined {
  const status = (error as { status?: unknown } | null)?.status;
  if (typeof status !== 'number' || status < 400 || status > 499) return undefined;
  return new Refusal(status, status === 413 ? 'The body is too large.' : 'The request is malformed.');
}

/**
 * The value as the schema has it. Refuses the first bad field; zod's texts never repeat a value, so no card number gets
 * into an answer.
 */
export function parse<T extends z.ZodType>(
  schema: T,
  value: unknown,
  statusOf: (field: string) => number = () => 400,
): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.join('.') ?? '';
  throw new Refusal(statusOf(field), issue?.message ?? 'The request is malformed.', field === '' ? undefined : field);
}
