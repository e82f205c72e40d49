import { Client } from 'pg';
import { insertFollowUp } from '../../../../src/db/orders/follow-ups';
import { findClockWaits } from '../../../../src/db/sandbox-clocks/clock-waits';
import { createTestDatabase } from '../../../support/database';
import { aFollowUp, anAcceptedPayment } from '../../../support/rows';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());

test('the waits of an authorization and of its captures are read one statement after the other, as pg demands', async () => {
  const payment = await anAcceptedPayment(database.db, { mode: 'manual' });
  for (const amount of [10, 20]) {
    await insertFollowUp(database.db, aFollowUp(payment, { kind: 'capture', amount }));
  }
  const query = Client.prototype.query as (...args: unknown[]) => unknown;
  const was_ready: boolean[] = [];
  const spy = jest.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...args: unknown[]) {
    was_ready.push((this as unknown as { readyForQuery: boolean }).readyForQuery);
    return query.apply(this, args) as never;
  });
  try {
    const { orders, follow_ups } = await findClockWaits(database.db, payment.id);
    expect(orders.map(({ id }) => id)).toEqual([payment.id]);
    expect(new Set(follow_ups.map(({ amount }) => amount))).toEqual(new Set([10, 20]));
  } finally {
    spy.mockRestore();
  }
  expect(was_ready).toEqual(was_ready.map(() => true));
  expect(was_ready.length).toBeGreaterThan(6);
});
