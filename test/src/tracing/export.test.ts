import { ExportResultCode } from '@opentelemetry/core';
import { InMemorySpanExporter, type ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { ReportingExporter } from '../../../src/tracing/export';

/** Keeps spans, except while it is away. */
class Collector extends InMemorySpanExporter {
  is_away = false;

  override export(...[spans, done]: Parameters<InMemorySpanExporter['export']>): void {
    if (this.is_away) done({ code: ExportResultCode.FAILED, error: new Error('connect ECONNREFUSED') });
    else super.export(spans, done);
  }
}

test('rules 24.17: batches that cannot be sent are logged once, and once when they can be again', async () => {
  const lines: string[] = [];
  const line = (level: string) => (fields: object, text: string) =>
    void lines.push(`${level} ${text} ${Object.keys(fields).join()}`);
  const collector = new Collector();
  const exporter = new ReportingExporter(collector, { warn: line('warn'), info: line('info') } as never);
  const results: number[] = [];
  const send = async () =>
    results.push(
      await new Promise<number>((resolve) => exporter.export([{}, {}] as ReadableSpan[], ({ code }) => resolve(code))),
    );

  await send();
  collector.is_away = true;
  for (let n = 0; n < 3; n += 1) await send();
  collector.is_away = false;
  await send();
  await send();
  expect(lines).toEqual(['warn traces cannot be sent err', 'info traces are sent again lost_spans']);
  // A failure would be reported by the packages, for each batch.
  expect(results).toEqual(Array(6).fill(ExportResultCode.SUCCESS));
  expect(collector.getFinishedSpans()).toHaveLength(6);
});
