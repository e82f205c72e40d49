import { findDelivery, recordAttempt } from '../../../../src/db/webhooks/deliveries';
import { moveOrder } from '../../../../src/db/orders/move-order';
import { createTestDatabase } from '../../../support/database';
import { NOW, PROJECT } from '../../../support/domain';
import { aStoredOrder, pauseDelivery } from '../../../support/rows';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase({ webhook_url: 'https://shop.example/hook' }));

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
const AGAIN = { status: 'new', next_attempt_at: NOW + 120_000 } as const;

test('has its address and its secrets, and is due at once', async () => {
  const id = await aDelivery();
  expect(await findDelivery(database.db, id)).toEqual({
    ...id,
    url: 'https://shop.example/hook',
    status: 'new',
    project_id: PROJECT.id,
    merchant_id: PROJECT.merchant_id,
    is_test: true,
    is_read_only: false,
    webhook_secret: expect.any(Buffer) as Buffer,
    webhook_secret_key_id: 'test',
    redelivery_of: null,
    clock_offset_ms: 0,
    previous_webhook_secret: null,
    previous_webhook_secret_key_id: null,
    previous_webhook_secret_expires: null,
    attempts: 0,
    next_attempt_at: NOW,
    is_slow: false,
  });
  expect(await findDelivery(database.db, { ...id, n: 2 })).toBeUndefined();
});

test('knows how many attempts failed, how the last one did, and when the next is due', async () => {
  const id = await aDelivery();
  await recordAttempt(database.db, id, { ...attempt(1), duration_ms: 4_001, failure: 'reading took too long' }, AGAIN);
  expect(await findDelivery(database.db, id)).toMatchObject({
    attempts: 1,
    failure: 'reading took too long',
    is_slow: true,
    next_attempt_at: NOW + 120_000,
  });
  await recordAttempt(database.db, id, attempt(2), { ...AGAIN, next_attempt_at: NOW + 240_000 });
  expect(await findDelivery(database.db, id)).toMatchObject({
    attempts: 2,
    failure: 'answered 500',
    is_slow: false,
    next_attempt_at: NOW + 240_000,
  });
});

test('an attempt that is recorded stays as it is, and so does what it decided; a final status is never left', async () => {
  const id = await aDelivery();
  const received = { ...attempt(1), status_code: 200, failure: undefined };
  expect(await recordAttempt(database.db, id, attempt(1), AGAIN)).toBe(true);
  expect(await recordAttempt(database.db, id, received, { status: 'delivered' })).toBe(false);
  expect(await findDelivery(database.db, id)).toMatchObject({ status: 'new', attempts: 1 });
  expect(await recordAttempt(database.db, id, { ...received, attempt: 2 }, { status: 'delivered' })).toBe(true);
  expect(await recordAttempt(database.db, id, attempt(3), { status: 'failed' })).toBe(false);
  const delivered = await findDelivery(database.db, id);
  expect(delivered!.status).toBe('delivered');
  expect(delivered).not.toHaveProperty('next_attempt_at');
});

test('an attempt that began before the pause counts: failed it leaves the pause, received it ends the delivery', async () => {
  const id = await aDelivery();
  await pauseDelivery(database.db, id);
  expect(await recordAttempt(database.db, id, attempt(1), AGAIN)).toBe(true);
  expect(await findDelivery(database.db, id)).toMatchObject({
    status: 'paused',
    attempts: 1,
    next_attempt_at: AGAIN.next_attempt_at,
  });
  const received = { ...attempt(2), status_code: 200, failure: undefined };
  expect(await recordAttempt(database.db, id, received, { status: 'delivered' })).toBe(true);
  expect(await findDelivery(database.db, id)).toMatchObject({ status: 'delivered', attempts: 2 });
});
