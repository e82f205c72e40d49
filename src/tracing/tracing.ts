import { setTimeout as sleep } from 'node:timers/promises';
import { DiagLogLevel, context, diag, propagation, trace } from '@opentelemetry/api';
import type { NodeTracerProvider, SpanProcessor } from '@opentelemetry/sdk-trace-node';
import type { Config } from '../config';
import type { Logger } from '../log';

/** Time for sending the last spans at the end of a process. Milliseconds. */
const LAST_SPANS_MS = 1_000;

let provider: NodeTracerProvider | undefined;
let next_trace_id: string | undefined;

/** Whether this process makes spans. Adapters are prepared for spans only then. */
export const isTracing = (): boolean => provider !== undefined;

type Sdk = typeof import('@opentelemetry/sdk-trace-node');
type Settings = Pick<
  Config,
  'OTEL_TRACES_EXPORTER' | 'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
>;

/** Traces are on with the exporter `otlp`, or with an endpoint unless the exporter is `none`. */
function isConfigured(config: Settings): boolean {
  const { OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT } = config;
  if (OTEL_TRACES_EXPORTER !== undefined) return OTEL_TRACES_EXPORTER === 'otlp';
  return (OTEL_EXPORTER_OTLP_ENDPOINT ?? OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) !== undefined;
}

/**
 * Starts the traces of a process if they are configured: spans are sent by OTLP over HTTP. The packages read all other
 * standard variables (`OTEL_…`) from the environment. Call it before connections are opened.
 */
export function startTracing(config: Settings, process_name: string, log: Logger): void {
  if (!isConfigured(config)) return;
  const warn = (message: string) => log.warn({ reason: message }, 'the configuration of traces is wrong');
  const silent = () => undefined;
  diag.setLogger({ error: warn, warn, info: silent, debug: silent, verbose: silent }, DiagLogLevel.WARN);
  // Loaded here: a process without traces does not need them.
  const { BatchSpanProcessor } = require('@opentelemetry/sdk-trace-node') as Sdk;
  const { OTLPTraceExporter } =
    require('@opentelemetry/exporter-trace-otlp-proto') as typeof import('@opentelemetry/exporter-trace-otlp-proto');
  const { ReportingExporter } = require('./export') as typeof import('./export');
  startSpans(process_name, new BatchSpanProcessor(new ReportingExporter(new OTLPTraceExporter(), log)));
  // From now on the packages would report every batch that cannot be sent.
  diag.disable();
  log.info('traces are sent');
}

/** Starts the spans of a process, which `processor` receives. */
export function startSpans(process_name: string, processor: SpanProcessor): void {
  const sdk = require('@opentelemetry/sdk-trace-node') as Sdk;
  const resources = require('@opentelemetry/resources') as typeof import('@opentelemetry/resources');
  const { W3CTraceContextPropagator } = require('@opentelemetry/core') as typeof import('@opentelemetry/core');
  const random = new sdk.RandomIdGenerator();
  provider = new sdk.NodeTracerProvider({
    resource: resources
      .resourceFromAttributes({ 'service.name': `payments-${process_name}` })
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    idGenerator: {
      generateTraceId: () => next_trace_id ?? random.generateTraceId(),
      generateSpanId: () => random.generateSpanId(),
    },
    spanProcessors: [processor],
  });
  provider.register({ propagator: new W3CTraceContextPropagator() });
}

/** Runs work that begins a trace with this id (32 hexadecimal digits). */
export function withTraceId<T>(trace_id: string, work: () => T): T {
  next_trace_id = trace_id;
  try {
    return work();
  } finally {
    next_trace_id = undefined;
  }
}

/** Sends the last spans, for a second at most. Does nothing while traces are off. */
export async function stopTracing(): Promise<void> {
  const stopped = provider?.shutdown().catch(() => undefined);
  provider = undefined;
  trace.disable();
  context.disable();
  propagation.disable();
  await Promise.race([stopped, sleep(LAST_SPANS_MS, undefined, { ref: false })]);
}
