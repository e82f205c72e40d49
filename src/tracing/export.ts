import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';
import type { Logger } from '../log';

/**
 * Sends spans and logs one line when they cannot be sent, and one when they can be again. The spans of a failed batch
 * are lost. The packages would log a line for each batch.
 */
export class ReportingExporter implements SpanExporter {
  private lost = 0;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly log: Pick<Logger, 'warn' | 'info'>,
  ) {}

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.exporter.export(spans, ({ code, error }) => {
      if (code === ExportResultCode.SUCCESS) this.reportSent();
      else this.reportLost(spans.length, error);
      done({ code: ExportResultCode.SUCCESS });
    });
  }

  async forceFlush(): Promise<void> {
    await this.exporter.forceFlush?.();
  }

  async shutdown(): Promise<void> {
    await this.exporter.shutdown();
  }

  private reportLost(spans: number, error: Error | undefined): void {
    if (this.lost === 0) this.log.warn({ err: error }, 'traces cannot be sent');
    this.lost += spans;
  }

  private reportSent(): void {
    if (this.lost > 0) this.log.info({ lost_spans: this.lost }, 'traces are sent again');
    this.lost = 0;
  }
}
