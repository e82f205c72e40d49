import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  context,
  propagation,
  trace,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api';

/** The tracer of all spans. It makes none unless startTracing was called. */
export const tracer = (): Tracer => trace.getTracer('payments');

/** The name, kind and ids of a span. Never a value of a payload or a statement, a header, or a path. */
export interface SpanFacts {
  name: string;
  kind?: SpanKind;
  attributes?: Attributes;
}

/** Runs work in a span below `parent`, by default the current one. An error ends the span as failed. */
export async function inSpan<T>(
  { name, kind = SpanKind.INTERNAL, attributes = {} }: SpanFacts,
  work: (span: Span) => Promise<T>,
  parent: Context = context.active(),
): Promise<T> {
  const span = tracer().startSpan(name, { kind, attributes }, parent);
  try {
    return await context.with(trace.setSpan(parent, span), () => work(span));
  } catch (error) {
    markFailed(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Like inSpan; without a current span the work runs without one, as loops and health checks do. */
async function inChildSpan<T>(facts: SpanFacts, work: () => Promise<T>): Promise<T> {
  return trace.getActiveSpan() === undefined ? await work() : await inSpan(facts, work);
}

/** Marks a span as failed, with the type of the error. Its message may hold values of the request. */
export function markFailed(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', typeOf(error));
}

function typeOf(error: unknown): string {
  const { error: service_error, code, type, name } = (error ?? {}) as Record<string, unknown>;
  const found = [service_error, code, type, name].find((one) => typeof one === 'string' && /^[\w.]+$/.test(one));
  return typeof found === 'string' ? found : 'Error';
}

/** The current span as the W3C header `traceparent`; undefined without one. */
export function currentTraceparent(): string | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent;
}

/** The context whose spans continue a `traceparent`; without a valid one they begin a trace. */
export function contextOf(traceparent: string | undefined): Context {
  return propagation.extract(ROOT_CONTEXT, { traceparent });
}

/**
 * The same functions, each call in a span `<prefix> <name>` below the current one. `close` stays as it is.
 */
export function traceCalls<Calls extends object>(prefix: string, calls: Calls): Calls {
  const traced = (name: string, call: (...args: unknown[]) => Promise<unknown>) => {
    const facts = { name: `${prefix} ${name}`, kind: SpanKind.CLIENT };
    return async (...args: unknown[]) => await inChildSpan(facts, () => call(...args));
  };
  return Object.fromEntries(
    Object.entries(calls).map(([name, call]) => [name, name === 'close' ? call : traced(name, call as never)]),
  ) as Calls;
}
