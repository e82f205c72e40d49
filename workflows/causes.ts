import type { Headers, Payload } from '@temporalio/common';
import { CancellationScope } from '@temporalio/workflow';
import { REQUEST_HEADER, TRACE_HEADER } from './messages';
import { payloadConverter } from './payload-converter';

/** What caused the work of a workflow, as headers. */
export interface Cause {
  /** The trace of a message; absent while traces are off. */
  trace?: Payload | undefined;
  /** The id of the request that a message carries. */
  request?: Payload | undefined;
}

/** The inputs that name the request they come from. */
type Input = {
  request?: { request_id?: unknown };
  command_line?: { request_id?: unknown };
  request_id?: unknown;
} | null;

/**
 * What caused the work of a workflow, so that its activities name the request in their log lines and continue its
 * trace. The work of an update belongs to that update. All other work belongs to the last message; after a timer it has
 * no request any more, but continues the trace. No event depends on it.
 */
export class Causes {
  private last: Cause = {};
  private readonly of_updates = new WeakMap<CancellationScope, Cause>();

  /** The workflow was started. A new run continues the trace; its input may name a request that is long answered. */
  started(headers: Headers, args: unknown[], is_new_run: boolean): void {
    this.last = is_new_run ? { trace: headers[TRACE_HEADER] } : causeOf(headers, args);
  }

  /** A message has arrived. One without a trace leaves the current one. */
  received(headers: Headers, args: unknown[]): void {
    const cause = causeOf(headers, args);
    this.last = { ...cause, trace: cause.trace ?? this.last.trace };
  }

  /** An update has arrived, whose handler runs in the current scope. */
  handling(headers: Headers, args: unknown[]): void {
    this.received(headers, args);
    this.of_updates.set(CancellationScope.current(), this.last);
  }

  /** What follows was caused by time, not by a request. */
  timerFired(): void {
    this.last = { trace: this.last.trace };
  }

  /** The cause of the work that runs now. */
  current(): Cause {
    for (let scope: CancellationScope | undefined = CancellationScope.current(); scope; scope = scope.parent) {
      const cause = this.of_updates.get(scope);
      if (cause !== undefined) return cause;
    }
    return this.last;
  }
}

function causeOf(headers: Headers, args: unknown[]): Cause {
  const [input] = args as [Input?];
  const id = input?.request?.request_id ?? input?.command_line?.request_id ?? input?.request_id;
  return {
    trace: headers[TRACE_HEADER],
    request: typeof id === 'string' ? payloadConverter.toPayload(id) : undefined,
  };
}

/** Headers with the trace, which the history keeps. */
export function withTrace(headers: Headers, { trace }: Cause): Headers {
  return trace === undefined ? headers : { ...headers, [TRACE_HEADER]: trace };
}

/** Headers with request and trace, for a local activity: its headers are in no history. */
export function withCauseHeaders(headers: Headers, cause: Cause): Headers {
  const { request } = cause;
  return withTrace(request === undefined ? headers : { ...headers, [REQUEST_HEADER]: request }, cause);
}
