import { continueAsNew, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { AuditPart } from '../activities/audit';
import { auditing } from './activities';
import { temporalClock } from './object/clock';

/**
 * Compares the record with the processor and the search index (rules 26). Started by a schedule, every hour. Its
 * position is in the record, so that a later run continues where a lost one ended. Returns what it has compared and
 * found.
 */
export async function audit(): Promise<AuditPart['figures']> {
  setCurrentDetails('Compares the record with the processor. The pending activity shows what it has done.');
  for (;;) {
    const { is_finished, figures } = await auditing.auditPart({ now: temporalClock.now() });
    setCurrentDetails(describeAudit(figures));
    if (is_finished) return figures;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew();
  }
}

/** The details in the Web UI. */
export function describeAudit({ orders, in_flight, opened, closed, index_differences }: AuditPart['figures']): string {
  return [
    `Compared ${orders} orders with the processor; ${in_flight} change at the moment and are compared again.`,
    `Opened ${opened} incidents, closed ${closed}.`,
    ...(index_differences > 0 ? [`Wrote ${index_differences} orders to the search index again.`] : []),
  ].join(' ');
}
