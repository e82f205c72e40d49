import { insertFollowUp } from '../../../../src/db/orders/follow-ups';
import { findStoredOrder } from '../../../../src/db/orders/stored-order';
import { findTimeline } from '../../../../src/db/orders/timeline';
import { TIMELINE_START } from '../../../../src/domain/timeline';
import { createTestDatabase } from '../../../support/database';
import { NOW } from '../../../support/domain';
import { aFollowUp, anAcceptedPayment } from '../../../support/rows';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase({ webhook_url: 'https://shop.example/hook' }));

test('rules 23.10: however many follow-up orders there are, no statement names more of them than the page has', async () => {
  const payment = await anAcceptedPayment(database.db);
  for (let n = 0; n < 5; n += 1) {
    const refund = aFollowUp(payment, { kind: 'refund', amount: 1, now: NOW + n * 1_000 });
    await insertFollowUp(database.db, refund);
  }
  const order = (await findStoredOrder(database.db, payment.id))!;
  const named: number[] = [];
  database.db.on('query', ({ bindings }: { bindings: unknown[] }) => {
    const texts = JSON.stringify(bindings);
    named.push(order.follow_ups.filter(({ id }) => texts.includes(id)).length);
  });
  const { follow_ups, orders } = await findTimeline(database.db, order, {
    limit: 1,
    from: TIMELINE_START,
    waits_max: 2,
  });
  expect([order.follow_ups.length, orders.length, follow_ups.length < 3]).toEqual([5, 3, true]);
  expect(Math.max(...named)).toBeLessThanOrEqual(2);
});
