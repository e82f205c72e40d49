import { beginAuditRun, saveAuditSlice } from '../../../../src/db/audit/audit-progress';
import { insertFollowUp } from '../../../../src/db/orders/follow-ups';
import { findFigures } from '../../../../src/db/metrics/figures';
import { createTestDatabase } from '../../../support/database';
import { aFollowUp, anAcceptedPayment, writeOrders } from '../../../support/rows';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());

test('the age of the oldest unknown outcome is that of a charge: banks take days for some refunds', async () => {
  const { db } = database;
  const payment = await anAcceptedPayment(db);
  const refund = aFollowUp(payment, { kind: 'refund', amount: 40 });
  await insertFollowUp(db, refund);
  const unknown = { status: 'processing', modified: new Date(0) };
  await db('transactions').where({ order_id: refund.id }).update(unknown);
  expect(await findFigures(db)).toMatchObject({ unknown_outcomes: 1, unknown_outcome_age: 0 });
  await writeOrders(db, [{ status: 'processing', transactions: [{ status: 'processing' }] }]);
  const { unknown_outcomes, unknown_outcome_age } = await findFigures(db);
  expect([unknown_outcomes, unknown_outcome_age > 0]).toEqual([2, true]);
});

test('rules 26.2: the audit is behind by what no run has compared to its end, or since there is a record', async () => {
  const { db } = database;
  const hoursBehind = async () => Math.floor((await findFigures(db)).audit_behind / 3_600);
  const hoursAgo = (hours: number) => Date.now() - hours * 3_600_000;
  await db('knex_migrations').update({ migration_time: new Date(hoursAgo(9)) });
  expect(await hoursBehind()).toBe(9);
  const first = await beginAuditRun(db, { began: hoursAgo(5), since: hoursAgo(40), until: hoursAgo(6) });
  expect(await hoursBehind()).toBe(5);
  await saveAuditSlice(db, { ...first, finished: hoursAgo(4) });
  expect(await hoursBehind()).toBe(6);
  await beginAuditRun(db, { began: hoursAgo(3), since: hoursAgo(6), until: hoursAgo(2) });
  expect(await hoursBehind()).toBe(6);
});
