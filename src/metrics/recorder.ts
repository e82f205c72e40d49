import type { CounterName, GaugeName, HistogramName, LabelsOf, MetricName } from './catalogue';

/**
 * Where the code says what it measures. A process has one recorder, as it has one log of its own; until startRecording
 * (recording.ts) nothing is recorded, and a call costs nothing.
 */

type Labels = Readonly<Record<string, string>>;

/** What keeps the counters and histograms of the process. */
export interface Recorder {
  count: (name: MetricName, labels: Labels, by: number) => void;
  measure: (name: MetricName, labels: Labels, value: number) => void;
}

let recorder: Recorder | undefined;

/** Records from now on; another recorder before it is not used any more. */
export function recordWith(one: Recorder): void {
  recorder = one;
}

type ReadGauge = () => readonly { value: number; labels: Labels }[];

/** The gauges that are read at each scrape. Registered before or after the start. */
export const gauges = new Map<MetricName, Set<ReadGauge>>();

/** Adds to a counter. */
export function incrementCounter<N extends CounterName>(name: N, labels: LabelsOf<N>, by = 1): void {
  recorder?.count(name, labels, by);
}

/** Adds one value to a histogram; durations in seconds. */
export function measure<N extends HistogramName>(name: N, labels: LabelsOf<N>, value: number): void {
  recorder?.measure(name, labels, value);
}

/**
 * Has a gauge read at each scrape, which must not wait; without values it is not exported. Several readers of one gauge
 * have different labels. Returns how to end it.
 */
export function gauge<N extends GaugeName | 'payments_process_cpu_seconds_total'>(
  name: N,
  read: () => readonly { value: number; labels: LabelsOf<N> }[],
): () => void {
  const readers = gauges.get(name) ?? new Set();
  gauges.set(name, readers);
  readers.add(read);
  return () => void readers.delete(read);
}
