import { AsyncLocalStorage } from 'node:async_hooks';
import { trace } from '@opentelemetry/api';

/** The cause of the work of an activity. */
interface Cause {
  /** The request that caused it; absent after a timer, a poll or a restart by recovery. */
  request_id?: string | undefined;
}

const causes = new AsyncLocalStorage<Cause>();

/** Runs the work of an activity; `request_id`: the request that caused it. */
export function withCause<T>(request_id: string | undefined, work: () => T): T {
  return causes.run({ request_id }, work);
}

/** Sets the request that caused the current work, which its record names. */
export function setCause(request_id: string | undefined): void {
  const cause = causes.getStore();
  if (cause !== undefined) cause.request_id = request_id;
}

/** The request that caused the current work; undefined outside of activities. */
export function currentRequestId(): string | undefined {
  return causes.getStore()?.request_id;
}

/** Fields of the current work for its log lines: the request that caused it and, with traces, its trace. */
export function causeFields(): { request_id?: string; trace_id?: string } {
  const request_id = currentRequestId();
  const trace_id = trace.getActiveSpan()?.spanContext().traceId;
  return { ...(request_id !== undefined && { request_id }), ...(trace_id !== undefined && { trace_id }) };
}
