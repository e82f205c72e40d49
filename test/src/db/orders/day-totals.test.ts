import { dayTotals } from '../../../../src/db/orders/day-totals';
import { createTestDatabase } from '../../../support/database';
import { PROJECT } from '../../../support/domain';
import { writeOrders } from '../../../support/rows';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());

test('rules 26.9: a sum that is above what Postgres holds as bigint is null', async () => {
  const amount = Number.MAX_SAFE_INTEGER;
  const settled = { settlement_currency: 'EUR', settlement_amount: amount, fee_currency: 'EUR', fee_amount: 1 };
  const transactions = [{ captured_amount: amount, ...settled }];
  await writeOrders(
    database.db,
    Array.from({ length: 1_100 }, () => ({ amount, transactions })),
  );
  const period = { project_id: PROJECT.id, since: Date.UTC(2026, 0, 15), until: Date.UTC(2026, 0, 16) };
  expect(await dayTotals(database.db, period)).toEqual([
    {
      currency: 'EUR',
      orders: 1_100,
      accepted_amount: null,
      refunded_amount: 0,
      charged_back_amount: 0,
      settled_amount: null,
      fee_amount: 1_100,
    },
  ]);
});
