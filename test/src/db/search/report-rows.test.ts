import { queryRows } from '../../../../src/db/connection';
import { orderIdsByCreation, recordCondition } from '../../../../src/db/search/report-rows';
import { parseQuery } from '../../../../src/domain/query/parse';
import { createTestDatabase } from '../../../support/database';
import { PROJECT } from '../../../support/domain';
import { writeOrders } from '../../../support/rows';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());

/** How often Postgres has run a part of a plan for the rows of `transactions`, in all. */
async function lookUps(sql: string, bindings: Record<string, unknown>): Promise<number> {
  const [plan] = await queryRows<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    database.db,
    `explain (analyze, format json) ${sql}`,
    bindings,
  );
  return countOf(plan!['QUERY PLAN'][0].Plan);
}

interface PlanNode {
  'Relation Name'?: string;
  'Actual Loops': number;
  Plans?: PlanNode[];
}
const countOf = (node: PlanNode): number =>
  (node['Relation Name'] === 'transactions' ? node['Actual Loops'] : 0) +
  (node.Plans ?? []).reduce((sum, child) => sum + countOf(child), 0);

test('rules 20.22: the end of an open order is looked up once, however many conditions are about it', async () => {
  const open = Array.from({ length: 7 }, () => ({ status: 'new', expires_at: '2026-01-15T12:30:00Z' }));
  await writeOrders(database.db, [...open, { status: 'completed' }]);
  // As many as a query has room for.
  const parsed = parseQuery(Array(356).fill('-expires_at:2020-01-01').join(' '));
  if ('problem' in parsed) throw new Error(parsed.problem);
  const condition = recordCondition(parsed.query)!;
  const wanted = { project_id: PROJECT.id, condition, direction: 'asc' as const };
  const found = await orderIdsByCreation(database.db, wanted, { rows: 100, after: undefined });
  expect(found.rows).toHaveLength(8);
  const sql = `select o.id from orders o ${condition.join} where o.project_id = :project_id and ${condition.sql}`;
  expect(await lookUps(sql, { ...condition.bindings, project_id: PROJECT.id })).toBe(open.length);
});
