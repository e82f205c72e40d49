import { insertOrder, beginAttempt } from '../../../../src/db/orders/insert-order';
import { moveOrder } from '../../../../src/db/orders/move-order';
import { findOrderSnapshot } from '../../../../src/db/orders/order-snapshot';
import { findStoredOrder } from '../../../../src/db/orders/stored-order';
import type { OrderSnapshot } from '../../../../src/domain/order-snapshot';
import { createTestDatabase, runBehindLock } from '../../../support/database';
import { aRequest, anOrder, aTransaction, NOW } from '../../../support/domain';
import { aStoredOrder } from '../../../support/rows';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());

const view = async (order_id: string) => (await findStoredOrder(database.db, order_id))!;

describe('insertOrder', () => {
  test('it returns the order as stored', async () => {
    const record = await aStoredOrder(database.db);
    expect(await findOrderSnapshot(database.db, record.id)).toEqual(record);
  });

  test('two at once write one', async () => {
    const order = anOrder();
    const times = { created: NOW, expires_at: NOW + 1, transaction_expires_at: NOW + 1, request: aRequest() };
    await Promise.all([1, 2, 3, 4].map(() => insertOrder(database.db, order, aTransaction(order.id), times)));
    expect((await view(order.id)).transactions).toHaveLength(1);
    expect((await view(order.id)).transactions[0]!.events).toHaveLength(1);
  });

  test('rules 1.4: free-form data comes back exactly: order of keys, numbers, unicode, __proto__', async () => {
    const extra = JSON.parse('{"z":1,"a":{"__proto__":{"x":null}},"2":1.50,"1":[1e3,"\\ud83d\\ude00",""]}') as object;
    const { id: order_id } = await aStoredOrder(database.db, {
      extra,
      client: {},
      order_lines: [{ b: 1, a: 2 }],
      amount: Number.MAX_SAFE_INTEGER,
    });
    const stored = await view(order_id);
    expect(JSON.stringify(stored.extra)).toBe(JSON.stringify(extra));
    expect([stored.client, stored.order_lines, stored.amount]).toEqual([{}, [{ b: 1, a: 2 }], Number.MAX_SAFE_INTEGER]);
  });
});

describe('beginAttempt', () => {
  const times = { created: NOW, expires_at: NOW + 1, request: aRequest() };

  test('twice at once is one attempt', async () => {
    const order = await aStoredOrder(database.db, { transaction: false });
    const attempt = aTransaction(order.id);
    const records = await Promise.all([1, 2, 3].map(() => beginAttempt(database.db, order, attempt, times)));
    expect(new Set(records.map(({ version }) => version))).toEqual(new Set([1]));
    const { transactions } = await view(order.id);
    expect(transactions.map(({ events }) => events.map(({ event, source }) => [event, source]))).toEqual([
      [['new', 'customer']],
    ]);
  });

  test('one that came with the order, begun with two cards at once, keeps the first', async () => {
    for (let round = 0; round < 5; round += 1) {
      const order = await aStoredOrder(database.db);
      const attempts = ['first', 'second', 'third'].map((vault_token) =>
        aTransaction(order.id, { payment_method_details: { vault_token } }),
      );
      const records = await Promise.all(attempts.map((attempt) => beginAttempt(database.db, order, attempt, times)));
      expect(records.map(({ version }) => version)).toEqual([1, 1, 1]);
      expect((await view(order.id)).version).toBe(1);
    }
  });

  test('one that came with the order keeps its event and its times, and is then paid as the customer chose', async () => {
    const order = await aStoredOrder(database.db, { transaction: { payment_method: 'apple-pay' } });
    const attempt = aTransaction(order.id, { payment_method_details: { vault_token: 'first' } });
    const other = aTransaction(order.id, { payment_method_details: { vault_token: 'second' } });
    const record = await beginAttempt(database.db, order, attempt, times);
    expect(record).toEqual(await findOrderSnapshot(database.db, order.id));
    expect(record.transactions).toEqual([{ ...order.transactions[0], charge_began: true }]);
    // Of two at once, and again from an order that was read before.
    expect(await beginAttempt(database.db, order, other, times)).toEqual(record);
    const [transaction] = (await view(order.id)).transactions;
    expect(transaction).toMatchObject({
      payment_method: 'credit-card',
      payment_method_details: { vault_token: 'first' },
      method_chosen_by: 'merchant',
      events: [expect.objectContaining({ source: 'merchant' })],
    });
  });

  test('rules 4.15: modified never goes back', async () => {
    const order = await aStoredOrder(database.db);
    const later = new Date(NOW + 10_000);
    for (const table of ['orders', 'transactions']) await database.db(table).update({ modified: later });
    await beginAttempt(database.db, order, aTransaction(order.id), times);
    const { modified, transactions } = await view(order.id);
    expect([modified, transactions[0]!.modified].map((instant) => Date.parse(instant))).toEqual([+later, +later]);
  });

  test('not to an order that changed meanwhile', async () => {
    const order = await aStoredOrder(database.db, { transaction: false });
    await moveOrder(database.db, order, { ended: 'cancelled' }, { source: 'customer', now: NOW });
    const after = await beginAttempt(database.db, order, aTransaction(order.id), times);
    expect([after.status, after.transactions]).toEqual(['cancelled', []]);
  });
});

describe('rules 10.5: past begin_before nothing is written', () => {
  const times = { created: NOW, expires_at: NOW + 1, transaction_expires_at: NOW + 1 };
  const tooLate = { error: 'ServiceUnavailable' };
  const insert = (order: ReturnType<typeof anOrder>, begin_before: number) =>
    insertOrder(database.db, order, aTransaction(order.id), { ...times, request: aRequest({ begin_before }) });
  const attempt = (order: OrderSnapshot, begin_before: number) =>
    beginAttempt(database.db, order, aTransaction(order.id), {
      created: NOW,
      expires_at: NOW + 1,
      request: aRequest({ begin_before }),
    });

  test('an order whose statement was held up until then', async () => {
    const order = anOrder();
    await expect(
      runBehindLock(database.db, 'lock table orders', (begin_before) => insert(order, begin_before)),
    ).rejects.toMatchObject(tooLate);
    expect(await findOrderSnapshot(database.db, order.id)).toBeUndefined();
  });

  test.each([
    ['the table', 'lock table orders'],
    ['the row of its order', 'select 1 from orders where id = :id for update'],
  ])('an attempt whose statement waited for %s until then', async (_title, lock) => {
    const order = await aStoredOrder(database.db, { transaction: false });
    const held = runBehindLock(database.db, lock.replace(':id', `'${order.id}'`), (begin_before) =>
      attempt(order, begin_before),
    );
    await expect(held).rejects.toMatchObject(tooLate);
    expect(await findOrderSnapshot(database.db, order.id)).toEqual(order);
  });

  test('an attempt at an order whose fields were changed meanwhile', async () => {
    const order = await aStoredOrder(database.db, { transaction: false });
    await database.db('orders').where({ id: order.id }).increment('version', 1);
    await expect(attempt(order, Date.now() - 1)).rejects.toMatchObject(tooLate);
    expect((await findOrderSnapshot(database.db, order.id))!.transactions).toEqual([]);
    expect((await attempt(order, Date.now() + 10_000)).transactions).toHaveLength(1);
  });
});
