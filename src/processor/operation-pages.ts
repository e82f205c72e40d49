import type { OperationsOf, Processor } from './client';
import { REPORT_LIMIT, type ReportedOperation } from './wire';

/** The operations of a report, page by page; none that is empty. Throws as `operations` of the processor does. */
export async function* operationPages(
  processor: Pick<Processor, 'operations'>,
  of: OperationsOf,
): AsyncGenerator<ReportedOperation[]> {
  for (let after = 0, page: ReportedOperation[]; ; after = page.at(-1)!.number) {
    page = await processor.operations(of, after);
    if (page.length > 0) yield page;
    if (page.length < REPORT_LIMIT) return;
  }
}
