import { SpanStatusCode } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { startSpans, stopTracing } from '../../src/tracing/tracing';
import { until } from './waits';

/** A span as the collector receives it. */
export interface ReceivedSpan {
  service: string;
  trace_id: string;
  span_id: string;
  parent_id: string;
  name: string;
  /** Nanoseconds. */
  started: bigint;
  attributes: Record<string, string | number | boolean>;
  links: string[];
  is_failed: boolean;
}

/** Received spans, by the request that began their trace. */
export function tracesIn(spans: () => readonly ReceivedSpan[]) {
  const traceOf = (request_id: string) => spans().filter(({ trace_id }) => trace_id === request_id.replaceAll('-', ''));
  return {
    traceOf,
    /** The tree of a request's trace, once it has a span of each name and the parents of all spans, which end later. */
    async treeOf(request_id: string, names: readonly string[]): Promise<string> {
      const missing = () => names.filter((name) => !traceOf(request_id).some((span) => span.name === name));
      const tree = () => treeOf(traceOf(request_id));
      await until(
        `spans of ${request_id}`,
        () => missing().length === 0 && !tree().includes(PARENT_MISSING),
        30_000,
      ).catch(() => {
        throw new Error(`no span ${missing().join(', ')}, or parents are missing, in:\n${tree()}`);
      });
      return tree();
    },
  };
}

/** Makes spans in this process and keeps them. */
export function collectSpans() {
  const exporter = new InMemorySpanExporter();
  startSpans('test', new SimpleSpanProcessor(exporter));
  return { ...tracesIn(() => exporter.getFinishedSpans().map(received)), close: stopTracing };
}

const received = (span: ReadableSpan): ReceivedSpan => ({
  service: String(span.resource.attributes['service.name']),
  trace_id: span.spanContext().traceId,
  span_id: span.spanContext().spanId,
  parent_id: span.parentSpanContext?.spanId ?? '',
  name: span.name,
  started: BigInt(span.startTime[0]) * 1_000_000_000n + BigInt(span.startTime[1]),
  attributes: span.attributes as ReceivedSpan['attributes'],
  links: span.links.map(({ context }) => context.traceId),
  is_failed: span.status.code === SpanStatusCode.ERROR,
});

/** Before a span whose parent was not received. */
const PARENT_MISSING = '? ';

/** Spans as an indented list, by parent and start; one whose parent was not received stands at the end. */
function treeOf(spans: readonly ReceivedSpan[]): string {
  const ids = new Set(spans.map(({ span_id }) => span_id));
  const below = (parent_id: string, indent: string): string[] =>
    spans
      .filter((span) => span.parent_id === parent_id)
      .toSorted((a, b) => (a.started < b.started ? -1 : 1))
      .flatMap((span) => [`${indent}${nameIn(span)}`, ...below(span.span_id, `${indent}  `)]);
  const lost = spans.filter(({ parent_id }) => parent_id !== '' && !ids.has(parent_id));
  return [...below('', ''), ...lost.map((span) => `${PARENT_MISSING}${nameIn(span)}`)].join('\n');
}

const nameIn = ({ name, service, is_failed }: ReceivedSpan) =>
  `${name} (${service.replace('payments-', '')}${is_failed ? ', failed' : ''})`;
