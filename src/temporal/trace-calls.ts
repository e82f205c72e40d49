import type { Client, WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type Headers, type Payload } from '@temporalio/common';
import { SpanKind, context, trace, type Context } from '@opentelemetry/api';
import { contextOf, currentTraceparent, inSpan } from '../tracing/spans';
import { objectAttributes } from './object-attributes';
import { TRACE_HEADER } from '../../workflows/messages';

/** The last events of a history in which the trace of a lost workflow is searched. */
const EVENTS_READ = 50;
/** Limit of reading them: recovery continues without the trace. Milliseconds. */
const READ_MS = 1_000;

/**
 * Makes a span of each call to a workflow, and sends its `traceparent` in a header of the message. Headers are not
 * encrypted; they carry the ids of trace and span only.
 *
 * Recovery has no current span: a workflow that it starts continues the last trace of the workflow that was lost, while
 * Temporal still has its history. `clientOf` is called after the client was made.
 */
export function callTracing(clientOf: () => Client): WorkflowClientInterceptor {
  const inCall = async <T>(
    name: string,
    workflow_id: string,
    call: (withTrace: (headers: Headers) => Headers) => Promise<T>,
    parent?: Context,
  ) =>
    await inSpan(
      { name, kind: SpanKind.CLIENT, attributes: objectAttributes(workflow_id) },
      async () => await call((headers) => ({ ...headers, ...traceHeaders() })),
      parent,
    );
  const inMessage = async <Input extends { headers: Headers }, T>(
    name: string,
    workflow_id: string,
    [input, next]: [Input, next: (input: Input) => Promise<T>],
    parent?: Context,
  ) => await inCall(name, workflow_id, (withTrace) => next({ ...input, headers: withTrace(input.headers) }), parent);
  const restarting = async (workflow_id: string) =>
    trace.getActiveSpan() === undefined ? await lastContextOf(clientOf(), workflow_id) : context.active();
  return {
    async startWithDetails(input, next) {
      const { workflowId } = input.options;
      return await inMessage(`start ${input.workflowType}`, workflowId, [input, next], await restarting(workflowId));
    },
    async signalWithStart(input, next) {
      const { workflowId } = input.options;
      return await inMessage(`signal ${input.signalName}`, workflowId, [input, next], await restarting(workflowId));
    },
    signal: async (input, next) =>
      await inMessage(`signal ${input.signalName}`, input.workflowExecution.workflowId, [input, next]),
    startUpdate: async (input, next) =>
      await inMessage(`update ${input.updateName}`, input.workflowExecution.workflowId, [input, next]),
    startUpdateWithStart: async (input, next) =>
      await inCall(`update ${input.updateName}`, input.workflowStartOptions.workflowId, (withTrace) =>
        next({
          ...input,
          workflowStartHeaders: withTrace(input.workflowStartHeaders),
          updateHeaders: withTrace(input.updateHeaders),
        }),
      ),
  };
}

/** The current span as headers of a message. */
function traceHeaders(): Headers {
  const traceparent = currentTraceparent();
  return traceparent === undefined ? {} : { [TRACE_HEADER]: defaultPayloadConverter.toPayload(traceparent) };
}

/** The text of a header; undefined when it is absent or no text. */
export function headerText(payload: Payload | null | undefined): string | undefined {
  if (!payload) return undefined;
  try {
    const value: unknown = defaultPayloadConverter.fromPayload(payload);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The trace of the last message that a workflow received; a new one when its history is lost or has none. */
async function lastContextOf(client: Client, workflowId: string): Promise<Context> {
  try {
    const { history } = await client.withDeadline(Date.now() + READ_MS, () =>
      client.workflowService.getWorkflowExecutionHistoryReverse({
        namespace: client.options.namespace,
        execution: { workflowId },
        maximumPageSize: EVENTS_READ,
      }),
    );
    for (const event of history?.events ?? []) {
      const header =
        event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.header ??
        event.workflowExecutionSignaledEventAttributes?.header ??
        event.workflowExecutionStartedEventAttributes?.header;
      const traceparent = headerText(header?.fields?.[TRACE_HEADER]);
      if (traceparent !== undefined) return contextOf(traceparent);
    }
  } catch {
    // Recovery does not wait for traces.
  }
  return contextOf(undefined);
}
