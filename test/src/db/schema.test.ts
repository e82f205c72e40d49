import { beginAttempt } from '../../../src/db/orders/insert-order';
import { moveOrder } from '../../../src/db/orders/move-order';
import { createTestDatabase } from '../../support/database';
import { aRequest, aTransaction, NOW } from '../../support/domain';
import { aStoredOrder } from '../../support/rows';
import { setUp } from '../../support/set-up';

const database = setUp(() => createTestDatabase({ webhook_url: 'https://shop.example/hook' }));

describe('the schema enforces its rules without the code', () => {
  test.each([
    ['an amount below 0', 'update orders set amount = -1'],
    ['an amount no program counts exactly', 'update orders set amount = 9007199254740992'],
    ['a status nobody knows', "update orders set status = 'paid'"],
    ['completed without its instant', "update orders set status = 'completed', completed = null"],
    ['its instant without completed', "update orders set status = 'new', completed = created"],
    ['more captured than charged', "update transactions set status = 'accepted', captured_amount = amount + 1"],
    ['captured and not accepted', "update transactions set status = 'error', captured_amount = 1"],
    ['an attempt twice', 'update transactions set attempt = 1'],
    ['an order that nobody ended', "update orders set ended = 'cancelled'"],
    ['an eleventh attempt of a webhook', 'update webhook_attempts set attempt = 11'],
  ])('%s', async (_title, sql) => {
    const order = await aStoredOrder(database.db, { amount: 1 });
    const declined = await moveOrder(
      database.db,
      order,
      { transaction_id: order.transactions[0]!.id, to: 'error' },
      { source: 'processor', now: NOW },
    );
    await beginAttempt(database.db, declined, aTransaction(order.id, { attempt: 2 }), {
      created: NOW,
      expires_at: NOW + 1,
      request: aRequest(),
    });
    await database
      .db('webhook_attempts')
      .insert({ order_id: order.id, n: 1, attempt: 1, time_limit_ms: 1, started: new Date(NOW), duration_ms: 1 })
      .onConflict()
      .ignore();
    const only = sql.includes('update orders') ? `id = '${order.id}'` : `order_id = '${order.id}'`;
    await expect(database.db.raw(`${sql} where ${only}`)).rejects.toThrow(/violates|value too long/);
  });
});
