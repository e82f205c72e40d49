import { ROOT_CONTEXT, SpanKind, SpanStatusCode, context, trace, type Span } from '@opentelemetry/api';
import { contextOf, tracer } from './spans';
import { isTracing, withTraceId } from './tracing';

interface EndedRequest {
  fields: Readonly<Record<string, string>>;
  status: number;
  was_sent: boolean;
  /** The path of its route, without ids. */
  route: string | undefined;
}

/** The trace of one HTTP request. */
export interface RequestTrace {
  readonly trace_id: string;
  /** Runs the handlers of the request in its span. */
  run(work: () => void): void;
  /** Ends the span. `fields`: what the layers noted of the request. */
  end(answered: EndedRequest): void;
}

/** The noted fields that a span shows, by attribute. */
const SHOWN = {
  'payments.project_id': 'project_id',
  'payments.api_key_id': 'api_key_id',
  'payments.order_id': 'order_id',
  'payments.object_id': 'object_id',
} as const;

/**
 * Begins the trace of a request; undefined while traces are off. Its trace id is the request id without hyphens. The
 * sender's `traceparent` becomes a link: it decides neither the trace's id nor whether it is recorded.
 */
export function startRequestTrace(request: {
  request_id: string;
  method: string;
  traceparent: string | undefined;
}): RequestTrace | undefined {
  if (!isTracing()) return undefined;
  const { request_id, method } = request;
  const senders = trace.getSpanContext(contextOf(request.traceparent));
  const span = withTraceId(request_id.replaceAll('-', ''), () =>
    tracer().startSpan(
      method,
      {
        kind: SpanKind.SERVER,
        attributes: { 'http.request.method': method, 'payments.request_id': request_id },
        links: senders === undefined ? [] : [{ context: senders }],
      },
      ROOT_CONTEXT,
    ),
  );
  return {
    trace_id: span.spanContext().traceId,
    run: (work) => context.with(trace.setSpan(ROOT_CONTEXT, span), work),
    end: ({ fields, status, was_sent, route }) => {
      span.setAttribute('http.response.status_code', status);
      if (fields['operation'] !== undefined) span.updateName(fields['operation']);
      if (route !== undefined) span.setAttribute('http.route', route);
      showFields(span, fields);
      if (status >= 500 || !was_sent) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function showFields(span: Span, fields: Readonly<Record<string, string>>): void {
  for (const [attribute, name] of Object.entries(SHOWN)) {
    if (fields[name] !== undefined) span.setAttribute(attribute, fields[name]);
  }
}
