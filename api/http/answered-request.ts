import type { Request, RequestHandler, Response } from 'express';
import type { ErrorAnswer } from '../../src/contract/error';
import { startRequestTrace } from '../../src/tracing/requests';

/** A request that is answered, or whose connection closed before. */
export interface AnsweredRequest {
  readonly request_id: string;
  /** Absent while traces are off. */
  readonly trace_id?: string;
  /**
   * What the layers noted, by name: the operation, the caller, and ids of objects. Texts of clients do not belong
   * here.
   */
  readonly fields: Readonly<Record<string, string>>;
  readonly method: string;
  readonly status: number;
  /** When it arrived, epoch milliseconds. */
  readonly received_at: number;
  /** Milliseconds from its arrival. */
  readonly ms: number;
  /** Of these, how long it waited because its client preferred to (rules 5.12). */
  readonly waited_ms: number;
  /** Whether the whole answer was handed to the connection. */
  readonly was_sent: boolean;
  /** The error in the answer. Its paths may contain names of fields that the client made up. */
  readonly error?: ErrorAnswer['error'] | undefined;
  /** The header Idempotency-Key, a text of the client. */
  readonly idempotency_key?: string | undefined;
  /** Whether an earlier request had the key. */
  readonly is_repeat: boolean;
}

/** Called once for each request, after its answer. Must not throw. */
export type RequestObserver = (request: AnsweredRequest) => void;

/** Adds fields to what observers are told of a request. */
export function noteRequest(response: Response, fields: AnsweredRequest['fields']): void {
  response.locals['noted'] = { ...(response.locals['noted'] as AnsweredRequest['fields'] | undefined), ...fields };
}

type AnswerNotes = Partial<Pick<AnsweredRequest, 'error' | 'idempotency_key' | 'is_repeat' | 'waited_ms'>>;

/**
 * Adds what observers are told of a request beside its fields: the error of its answer, its Idempotency-Key, its wait.
 */
export function noteAnswer(response: Response, notes: AnswerNotes): void {
  response.locals['answer'] = { ...(response.locals['answer'] as AnswerNotes | undefined), ...notes };
}

/** How many requests are not answered so far. */
export interface OpenRequests {
  count: number;
}

/**
 * Tells the observers of each request once it is answered, or its connection closed before. Meanwhile it counts in
 * `open`. With traces the request is handled in a span of its own.
 */
export function observeRequests(observers: readonly RequestObserver[], open: OpenRequests): RequestHandler {
  return (request, response, next) => {
    const { method } = request;
    const began = performance.now();
    const received_at = Date.now();
    open.count += 1;
    const request_id = String(response.getHeader('X-Request-Id'));
    const trace = startRequestTrace({ request_id, method, traceparent: request.get('traceparent') });
    response.once('close', () => {
      open.count -= 1;
      const answered = {
        request_id,
        ...(trace && { trace_id: trace.trace_id }),
        fields: (response.locals['noted'] as AnsweredRequest['fields'] | undefined) ?? {},
        method,
        status: response.statusCode,
        received_at,
        ms: Math.round(performance.now() - began),
        was_sent: response.writableFinished,
        is_repeat: false,
        waited_ms: 0,
        ...(response.locals['answer'] as AnswerNotes | undefined),
      };
      for (const observe of observers) observe(answered);
      trace?.end({ ...answered, route: routeOf(request) });
    });
    if (trace === undefined) next();
    else trace.run(next);
  };
}

/**
 * The route that handled the request, with the names of its parameters in place of ids; undefined for a refused one.
 */
function routeOf({ baseUrl, route }: Request): string | undefined {
  const { path } = (route ?? {}) as { path?: string };
  return path === undefined ? undefined : baseUrl + path;
}
