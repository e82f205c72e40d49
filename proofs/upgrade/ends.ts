import * as manage from '../../src/client/manage';
import { withDatabase } from '../../src/db/connection';
import { queryRows } from '../../src/db/query';
import { ALL_OPEN } from '../../src/temporal/visibility';
import { Merchant } from '../../test/support/merchant';
import { capture } from '../../test/support/merchant-payments';
import { Operator } from '../../test/support/operator';
import { indexDifferences } from '../invariants/index-equals-record';
import { ledgerDifferences } from '../invariants/ledger';
import type { RunningStack } from '../../test/support/stack';
import { failedTasksIn, withTemporal } from '../../test/support/temporal-client';
import { until } from '../../test/support/waits';
import type { OpenObjects } from './load';
import { severalAtOnce } from '../../src/domain/several-at-once';

/** Longer than two minutes, after which a refused webhook is sent again. Milliseconds. */
const DELIVERY_MS = 400_000;

/** Ends everything that is open as merchants do, and waits until all is over. */
async function endAll(stack: RunningStack, open: OpenObjects): Promise<void> {
  const merchant = new Merchant(stack);
  const works: (() => Promise<unknown>)[] = [
    ...open.unpaid.map((id) => () => merchant.cancelOrder(id)),
    ...open.held.map((order) => () => capture(merchant, order)),
    ...open.links.map((id) => () => merchant.endPaymentLink(id)),
  ];
  await severalAtOnce(8, works, (work) => work());
  await deliverNow(stack);
}

async function deliverNow(stack: RunningStack): Promise<void> {
  const { options } = await Operator.signIn(stack);
  await withDatabase(stack.postgres_url, async (db) => {
    const waiting = () =>
      queryRows<{ id: string }>(db, `select order_id || '-' || n as id from webhook_deliveries where status = 'new'`);
    for (const { id } of await waiting()) await manage.deliverNow({ id }, options);
    await until('every webhook is delivered', async () => (await waiting()).length === 0, DELIVERY_MS);
  });
}

/** Ends everything that is open once the receiver takes webhooks, and finds what did not end as it must and the failed workflow tasks, in words. */
export async function endsOf(
  stack: RunningStack,
  open: OpenObjects,
): Promise<{ histories: number; failed: number; violations: string[] }> {
  await endAll(stack, open);
  const ends = await wrongEnds(stack, open);
  const { histories, failures } = await failedTasks(stack);
  return { histories, failed: failures.length, violations: [...failures, ...ends] };
}

/** What did not end as it must, in words. */
async function wrongEnds(stack: RunningStack, open: OpenObjects): Promise<string[]> {
  return await withDatabase(stack.postgres_url, async (db) => {
    const statusOf = async (table: string, ids: string[]) =>
      await queryRows<{ status: string; count: number }>(
        db,
        `select status, count(*)::int as count from ${table} where id = any(:ids::uuid[]) group by status`,
        { ids },
      );
    const expected: [string, string, string[], string][] = [
      ['unpaid orders', 'orders', open.unpaid, 'cancelled'],
      ['authorizations', 'orders', open.held.map(({ id }) => id), 'completed'],
      ['paid orders', 'orders', open.undelivered, 'completed'],
      ['links', 'payment_links', open.links, 'expired'],
    ];
    const wrong: string[] = [];
    for (const [what, table, ids, status] of expected) {
      for (const found of await statusOf(table, ids)) {
        if (found.status !== status) wrong.push(`${found.count} ${what} are ${found.status}, not ${status}`);
      }
    }
    const captured = await queryRows<{ count: number }>(
      db,
      `select count(*)::int as count from transactions where order_id = any(:ids::uuid[]) and captured_amount <> amount`,
      { ids: open.held.map(({ id }) => id) },
    );
    if (captured[0]!.count > 0) wrong.push(`${captured[0]!.count} authorizations are not captured in full`);
    const lost = await queryRows<{ status: string; count: number }>(
      db,
      `select status, count(*)::int as count from webhook_deliveries where status <> 'delivered' group by status`,
    );
    wrong.push(...lost.map(({ status, count }) => `${count} webhooks are ${status}`));
    const attention = await queryRows<{ id: string; attention: string }>(
      db,
      'select id, attention from orders where attention is not null',
    );
    wrong.push(...attention.map(({ id, attention }) => `order ${id} needs an operator: ${attention}`));
    return [...wrong, ...(await ledgerDifferences(stack)), ...(await indexDifferences(stack))];
  });
}

/** Histories that are read at once. */
const READ_AT_ONCE = 8;

/**
 * Failed workflow tasks of all histories, in words, and how many histories there are; `since` an instant, of those that
 * have not ended before it.
 */
export async function failedTasks(
  stack: RunningStack,
  { since = new Date(0) } = {},
): Promise<{ histories: number; failures: string[] }> {
  return await withTemporal(stack, async ({ workflow }) => {
    const runs = [];
    const query = `${ALL_OPEN} or CloseTime >= '${since.toISOString()}'`;
    for await (const { workflowId, runId } of workflow.list({ query })) runs.push({ workflowId, runId });
    const found = await severalAtOnce(READ_AT_ONCE, runs, async ({ workflowId, runId }) => {
      const { failed } = failedTasksIn(await workflow.getHandle(workflowId, runId).fetchHistory());
      return failed.map(
        ({ cause, failure }) => `a task of workflow ${workflowId} failed: cause ${cause}, ${failure?.message ?? ''}`,
      );
    });
    return { histories: runs.length, failures: found.flat() };
  });
}
