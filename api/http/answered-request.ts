import type { RequestHandler, Response } from 'express';

/** A request that is answered, or whose connection closed before. */
export interface AnsweredRequest {
  readonly request_id: string;
  /**
   * What the layers noted, by name: the operation, the caller, and ids of objects. Texts of clients do not belong
   * here.
   */
  readonly fields: Readonly<Record<string, string>>;
  readonly method: string;
  readonly status: number;
  /** Milliseconds from its arrival. */
  readonly ms: number;
  /** Whether the whole answer was handed to the connection. */
  readonly was_sent: boolean;
}

/** Called once for each request, after its answer. Must not throw. */
export type RequestObserver = (request: AnsweredRequest) => void;

/** Adds fields to what observers are told of a request. */
export function noteRequest(response: Response, fields: AnsweredRequest['fields']): void {
  response.locals['noted'] = { ...(response.locals['noted'] as AnsweredRequest['fields'] | undefined), ...fields };
}

/** How many requests are not answered so far. */
export interface OpenRequests {
  count: number;
}

/**
 * Tells the observers of each request once it is answered, or its connection closed before. Meanwhile it counts in
 * `open`.
 */
export function observeRequests(observers: readonly RequestObserver[], open: OpenRequests): RequestHandler {
  return ({ method }, response, next) => {
    const began = performance.now();
    open.count += 1;
    response.once('close', () => {
      open.count -= 1;
      const answered = {
        request_id: String(response.getHeader('X-Request-Id')),
        fields: (response.locals['noted'] as AnsweredRequest['fields'] | undefined) ?? {},
        method,
        status: response.statusCode,
        ms: Math.round(performance.now() - began),
        was_sent: response.writableFinished,
      };
      for (const observe of observers) observe(answered);
    });
    next();
  };
}
