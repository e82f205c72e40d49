import { auditedProjects, recordedOrders } from '../src/db/audit/recorded-money';
import type { Database } from '../src/db/query';
import { compareOrder, type ComparedOrder, type Comparison, type ReportedMoney } from '../src/domain/audit';
import type { Difference } from '../src/domain/incident';
import type { Processor } from '../src/processor/client';
import { operationPages } from '../src/processor/operation-pages';
import { REPORT_ORDERS_MAX, type ReportedOperation } from '../src/processor/wire';
import { recordedIn } from './settlements';

/** Both sides of the comparison. */
export interface ComparedSides {
  db: Database;
  processor: Pick<Processor, 'operations' | 'totals'>;
}

/** What was found in some orders. */
export interface Found {
  orders: number;
  in_flight: number;
  differences: Difference[];
}

/**
 * Compares payment orders, and what follows them, with the processor. An order that differs is read a second time on
 * both sides: only what differs both times counts, as the first reads are not of one instant.
 */
export async function findDifferences(
  sides: ComparedSides,
  order_ids: readonly string[],
  comparison: Comparison,
): Promise<Found & { by_order: Map<string, ComparedOrder> }> {
  const by_order = await compareOrders(sides, order_ids, comparison);
  const suspects = [...by_order].filter(([, { differences }]) => differences.length > 0).map(([order_id]) => order_id);
  for (const [order_id, again] of await compareOrders(sides, suspects, comparison)) {
    const differences = foundTwice(by_order.get(order_id)!.differences, again.differences);
    by_order.set(order_id, { ...again, differences });
  }
  const compared = [...by_order.values()];
  return {
    orders: compared.length,
    in_flight: compared.filter(({ is_in_flight }) => is_in_flight).length,
    differences: compared.flatMap(({ differences }) => differences),
    by_order,
  };
}

/** The differences that both reads have found. */
export function foundTwice(first: readonly Difference[], again: readonly Difference[]): Difference[] {
  const keyOf = ({ kind, object_id, record_amount, processor_amount }: Difference) =>
    [kind, object_id, record_amount, processor_amount].join(' ');
  const known = new Set(first.map(keyOf));
  return again.filter((difference) => known.has(keyOf(difference)));
}

/**
 * Orders that neither side has are left out, and orders of projects that the record does not have: the processor may
 * serve other installations.
 */
async function compareOrders(
  sides: ComparedSides,
  order_ids: readonly string[],
  comparison: Comparison,
): Promise<Map<string, ComparedOrder>> {
  if (order_ids.length === 0) return new Map();
  // The processor first: what the record has gained meanwhile is too young to be compared.
  const reported = await reportedMoney(sides.processor, order_ids);
  const recorded = new Map((await recordedOrders(sides.db, order_ids)).map((order) => [order.order_id, order]));
  const missing = order_ids.filter((order_id) => !recorded.has(order_id) && reported.has(order_id));
  const projects = await knownProjects(
    sides.db,
    missing.map((order_id) => reported.get(order_id)![0]!.project_id),
  );
  const compared = order_ids
    .filter((order_id) => recorded.has(order_id) || projects.has(reported.get(order_id)?.[0]?.project_id ?? ''))
    .map((order_id) => {
      const operations = reported.get(order_id) ?? [];
      return [order_id, compareOrder(order_id, recorded.get(order_id), operations, comparison)] as const;
    });
  return new Map(compared);
}

async function knownProjects(db: Database, project_ids: readonly string[]): Promise<Set<string>> {
  if (project_ids.length === 0) return new Set();
  return new Set((await auditedProjects(db, project_ids)).map(({ id }) => id));
}

/** All operations of some orders, by order. */
async function reportedMoney(
  processor: ComparedSides['processor'],
  order_ids: readonly string[],
): Promise<Map<string, ReportedMoney[]>> {
  const reported = new Map<string, ReportedMoney[]>();
  for (let n = 0; n < order_ids.length; n += REPORT_ORDERS_MAX) {
    const of = { order_ids: order_ids.slice(n, n + REPORT_ORDERS_MAX) };
    for await (const page of operationPages(processor, of)) {
      for (const money of page.map(moneyOf)) {
        reported.set(money.order_id, [...(reported.get(money.order_id) ?? []), money]);
      }
    }
  }
  return reported;
}

function moneyOf(operation: ReportedOperation): ReportedMoney {
  const { order_id, project_id, transaction_id, amount, currency, result, occurred, settlement } = operation;
  return {
    ...{ order_id, project_id, transaction_id, amount, currency },
    operation: operation.operation,
    recorded_in: recordedIn(operation),
    is_approved: result === 'approved',
    occurred: Date.parse(occurred),
    ...(settlement && {
      settlement: {
        number: settlement.number,
        settlement_currency: settlement.settlement_currency,
        settlement_amount: settlement.settlement_amount,
        fee_amount: settlement.fee_amount ?? 0,
        fee_currency: settlement.fee_currency,
      },
    }),
  };
}
