import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { MetricsProcess } from './catalogue';
import { gauge } from './recorder';

const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;
/** Sampling interval of the event-loop delay. Milliseconds. */
const RESOLUTION_MS = 20;

/** Gauges of every process: version, CPU time, memory, and how late its timers are. */
export function readProcess(name: MetricsProcess, version: string): void {
  const started = Date.now() / 1_000 - process.uptime();
  gauge('payments_build_info', () => [{ value: 1, labels: { process: name, version, node: process.versions.node } }]);
  gauge('payments_process_start_time_seconds', () => [{ value: started, labels: {} }]);
  gauge('payments_process_cpu_seconds_total', () => {
    const { user, system } = process.cpuUsage();
    return [
      { value: user / MICROSECONDS, labels: { mode: 'user' } },
      { value: system / MICROSECONDS, labels: { mode: 'system' } },
    ];
  });
  gauge('payments_process_resident_memory_bytes', () => [{ value: process.memoryUsage.rss(), labels: {} }]);
  gauge('payments_nodejs_heap_used_bytes', () => [{ value: process.memoryUsage().heapUsed, labels: {} }]);

  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  // The histogram holds the whole pause between two looks.
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1_000);
  gauge('payments_nodejs_event_loop_delay_seconds', () => {
    const [p50, p99, max] = [late(delay.percentile(50)), late(delay.percentile(99)), late(delay.max)];
    delay.reset();
    return [
      { value: p50, labels: { statistic: 'p50' } },
      { value: p99, labels: { statistic: 'p99' } },
      { value: max, labels: { statistic: 'max' } },
    ];
  });
}
