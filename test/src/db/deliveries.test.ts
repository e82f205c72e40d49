import { findDelivery, recordAttempt } from '../../../src/db/deliveries';
import { moveOrder } from '../../../src/db/move-order';
import { NOW, aStoredOrder } from '../../support/builders';
import { PROJECT, aDatabase, type TestDatabase } from '../../support/database';

let database: TestDatabase;
beforeAll(async () => {
  database = await aDatabase({ webhook_url: 'https://shop.example/hook' });
});
afterAll(() => database.close());

async function aDelivery() {
  const order = await aStoredOrder(database.db);
  await moveOrder(database.db, order, { ended: 'cancelled' }, { source: 'merchant', now: NOW });
  return { order_id: order.id, n: 1 };
}
const attempt = (n: number) => ({
  attempt: n,
  time_limit_ms: 4_000,
  started: NOW,
  duration_ms: 12,
  status_code: 500,
  failure: 'answered 500',
});

test('knows where it goes and what signs it', async () => {
  const id = await aDelivery();
  expect(await findDelivery(database.db, id)).toEqual({
    ...id,
    url: 'https://shop.example/hook',
    status: 'new',
    project_id: PROJECT.id,
    is_test: true,
    webhook_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) as string,
  });
  expect(await findDelivery(database.db, { ...id, n: 2 })).toBeUndefined();
});

test('an attempt that is recorded stays as it is; a final status is never left', async () => {
  const id = await aDelivery();
  await recordAttempt(database.db, id, attempt(1), 'new');
  await recordAttempt(database.db, id, { ...attempt(1), status_code: 200, failure: undefined }, 'delivered');
  await recordAttempt(database.db, id, attempt(2), 'failed');
  expect((await findDelivery(database.db, id))!.status).toBe('delivered');
  const rows: unknown = await database
    .db('webhook_attempts')
    .where({ order_id: id.order_id })
    .orderBy('attempt')
    .select('attempt', 'status_code', 'failure');
  expect(rows).toEqual([
    { attempt: 1, status_code: 500, failure: 'answered 500' },
    { attempt: 2, status_code: 500, failure: 'answered 500' },
  ]);
});
