import { auditedProjects, recordedTotals, type RecordedTotal } from '../src/db/audit/recorded-money';
import type { Difference } from '../src/domain/incident';
import type { TimeSpan } from '../src/domain/period';
import { operationPages } from '../src/processor/operation-pages';
import { foundTwice, type ComparedSides } from './audit-comparison';

/** Sums by project, operation and currency (rules 26.4). They are compared hour by hour, which is finer than a day. */

const keyOf = ({ project_id, operation, currency }: Pick<RecordedTotal, 'project_id' | 'operation' | 'currency'>) =>
  [project_id, operation, currency].join(' ');

/** The projects whose sums in the record are not the processor's. */
export async function differingProjects(
  { db, processor }: ComparedSides,
  hour: TimeSpan,
  fetched_up_to: number,
): Promise<string[]> {
  const reported = await processor.totals(hour, fetched_up_to);
  const recorded = await recordedTotals(db, hour);
  const there = new Map(reported.map((total) => [keyOf(total), total]));
  const here = new Map(recorded.map((total) => [keyOf(total), total]));
  const differing = [...new Set([...there.keys(), ...here.keys()])].filter((key) => {
    const [a, b] = [there.get(key), here.get(key)];
    return (['amount', 'settlement_amount', 'fee_amount'] as const).some(
      (column) => (a?.[column] ?? 0n) !== (b?.[column] ?? 0n),
    );
  });
  const project_ids = [...new Set(differing.map((key) => key.split(' ', 1)[0]!))];
  if (project_ids.length === 0) return [];
  const audited = await auditedProjects(db, project_ids);
  return audited.filter(({ is_ahead }) => !is_ahead).map(({ id }) => id);
}

/** The name of a sum: of which project, operation, currency and hour. */
interface SumName {
  project_id: string;
  operation: string;
  currency: string;
  since: number;
}

const nameOf = ({ since, ...sum }: SumName) => `${keyOf(sum)} ${new Date(since).toISOString()}`;

/** The sum that an incident is about. */
export function sumOf(object_id: string): SumName {
  const [project_id = '', operation = '', currency = '', since = ''] = object_id.split(' ');
  return { project_id, operation, currency, since: Date.parse(since) };
}

/**
 * Where the totals of an hour are not the sums of the operations that the processor reports for it. The comparison of
 * single orders cannot find that.
 */
export async function sumDifferences(
  sides: ComparedSides,
  hour: TimeSpan,
  project_ids: readonly string[],
): Promise<Difference[]> {
  const first = await wrongSums(sides, hour, project_ids);
  if (first.length === 0) return [];
  // As of single orders, only what differs twice counts.
  return foundTwice(first, await wrongSums(sides, hour, project_ids));
}

async function wrongSums(sides: ComparedSides, hour: TimeSpan, project_ids: readonly string[]): Promise<Difference[]> {
  const totals = (await sides.processor.totals(hour, 0)).filter(({ project_id }) => project_ids.includes(project_id));
  const sums = new Map<string, bigint>();
  for await (const page of operationPages(sides.processor, hour)) {
    for (const operation of page.filter(({ result }) => result === 'approved')) {
      if (!project_ids.includes(operation.project_id)) continue;
      sums.set(keyOf(operation), (sums.get(keyOf(operation)) ?? 0n) + BigInt(operation.amount));
    }
  }
  const named = new Map(totals.map((total) => [keyOf(total), total.amount]));
  return [...new Set([...named.keys(), ...sums.keys()])].flatMap((key) => {
    const [total, sum] = [named.get(key) ?? 0n, sums.get(key) ?? 0n];
    if (total === sum) return [];
    const [project_id = '', operation = '', currency = ''] = key.split(' ');
    const day = new Date(hour.since).toISOString().slice(0, 13);
    return [
      {
        kind: 'sum' as const,
        object_id: nameOf({ project_id, operation, currency, since: hour.since }),
        project_id,
        order_id: null,
        transaction_id: null,
        currency,
        record_amount: Number(sum),
        processor_amount: Number(total),
        description: `The processor's total of ${operation} in the hour ${day} is ${total}; the sum of its operations is ${sum}.`,
      },
    ];
  });
}
