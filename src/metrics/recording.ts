import { ValueType, type Attributes, type Counter, type Histogram, type HrTime } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  MeterProvider,
  type GaugeMetricData,
  type MetricProducer,
  type SumMetricData,
} from '@opentelemetry/sdk-metrics';
import { METRICS, OTHER, type Metric, type MetricName, type MetricsProcess } from './catalogue';
import { gauges, recordWith } from './recorder';

/** Records what the process measures, with OpenTelemetry, and shows it as Prometheus reads it. */

let collect: (() => Promise<string>) | undefined;

/** Begins to record the metrics of a process. A second call begins anew. */
export function startRecording(process: MetricsProcess): void {
  const reader = new PrometheusExporter({ preventServerStart: true, metricProducers: [gaugesOf(process)] });
  const meter = new MeterProvider({ readers: [reader] }).getMeter('payments');
  const serializer = new PrometheusSerializer('', false, undefined, true, true);
  const counters = new Map<MetricName, Counter>();
  const histograms = new Map<MetricName, Histogram>();
  for (const [key, metric] of Object.entries(METRICS) as [MetricName, Metric][]) {
    if (!metric.processes.includes(process)) continue;
    const options = { description: metric.help };
    if (metric.type === 'gauge' || isReadAtScrape(key)) continue;
    if (metric.type === 'histogram') {
      const advice = { explicitBucketBoundaries: [...(metric.buckets ?? [])] };
      histograms.set(key, meter.createHistogram(key, { ...options, advice }));
    } else {
      const counter = meter.createCounter(key, options);
      for (const labels of firstSeries(metric)) counter.add(0, labels);
      counters.set(key, counter);
    }
  }
  recordWith({
    count: (name, labels, by) => counters.get(name)?.add(by, known(name, labels)),
    measure: (name, labels, value) => histograms.get(name)?.record(value, known(name, labels)),
  });
  collect = async () => {
    const { resourceMetrics, errors } = await reader.collect();
    if (errors.length > 0) throw new Error('a metric could not be read', { cause: errors[0] });
    return serializer.serialize(resourceMetrics);
  };
}

/** The metrics of this process as Prometheus reads them. Throws unless they are recorded. */
export async function scrape(): Promise<string> {
  if (collect === undefined) throw new Error('no metrics are recorded');
  return await collect();
}

/** A counter that the operating system counts. */
const isReadAtScrape = (name: MetricName) => name === 'payments_process_cpu_seconds_total';

/**
 * The gauges as they are at the moment. An observable gauge of the library keeps a value that is not observed any more,
 * such as those of a worker that has lost its lease.
 */
function gaugesOf(process: MetricsProcess): MetricProducer {
  const began = timeOf(Date.now());
  return {
    collect() {
      const now = timeOf(Date.now());
      const metrics = [...gauges].flatMap(([name, readers]): (GaugeMetricData | SumMetricData)[] => {
        const { help, processes } = METRICS[name];
        if (!processes.includes(process)) return [];
        const dataPoints = [...readers].flatMap((read) =>
          read().map(({ value, labels }) => ({
            value,
            attributes: known(name, labels),
            startTime: began,
            endTime: now,
          })),
        );
        const descriptor = { name, description: help, unit: '', valueType: ValueType.DOUBLE };
        const data = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE, dataPoints };
        if (dataPoints.length === 0) return [];
        return isReadAtScrape(name)
          ? [{ ...data, dataPointType: DataPointType.SUM, isMonotonic: true }]
          : [{ ...data, dataPointType: DataPointType.GAUGE }];
      });
      const resource = emptyResource();
      return Promise.resolve({
        resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'payments' }, metrics }] },
        errors: [],
      });
    },
  };
}

const timeOf = (epoch_ms: number): HrTime => [Math.floor(epoch_ms / 1_000), (epoch_ms % 1_000) * 1_000_000];

/** The values of each list, for look-ups. */
const VALUES = new Map(
  (Object.entries(METRICS) as [MetricName, Metric][]).map(([name, { labels }]) => [
    name,
    Object.entries(labels).map(([label, values]) => [label, values && new Set(values)] as const),
  ]),
);

/** The labels with `other` for values that are in no list: none of them is an id or a text of clients. */
function known(name: MetricName, labels: Attributes): Attributes {
  const lists = VALUES.get(name)!;
  for (const [label, values] of lists) {
    if (values === null || values.has(labels[label] as string)) continue;
    return Object.fromEntries(
      lists.map(([one, list]) => [one, list === null || list.has(labels[one] as string) ? labels[one] : OTHER]),
    );
  }
  return labels;
}

/** Counters with more series begin without any. */
const FIRST_SERIES_MAX = 60;

/** The series of a counter before it counts, without `other`: from 0, so that a rate sees the first increase. */
function firstSeries({ labels }: Metric): Attributes[] {
  let series: Attributes[] = [{}];
  for (const [label, values] of Object.entries(labels)) {
    series = series.flatMap((one) =>
      (values ?? []).flatMap((value) => (value === OTHER ? [] : [{ ...one, [label]: value }])),
    );
  }
  return series.length <= FIRST_SERIES_MAX ? series : [];
}
