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
