import { findOrder, insertOrder, insertTransaction, moveOrder } from '../../../src/db/orders';
import { findOrderView } from '../../../src/db/order-view';
import type { OrderRecord } from '../../../src/domain/move';
import { ORDER_MOVES, TRANSACTION_MOVES, mayMove, TRANSACTION_STATUSES, type TransactionStatus } from '../../../src/domain/transitions';
import { NOW, aStoredOrder, aTransaction, anOrder } from '../../support/builders';
import { aDatabase, type TestDatabase } from '../../support/database';
import { heldUpPast } from '../../support/locks';

let database: TestDatabase;
beforeAll(async () => {
  database = await aDatabase({ webhook_url: 'https://shop.example/hook' });
});
afterAll(() => database.close());

const by = { source: 'processor', now: NOW } as const;
const view = async (order_id: string) => (await findOrderView(database.db, order_id))!;
const accept = (order: { transactions: { transaction_id: string }[] }) => ({ transaction_id: order.transactions.at(-1)!.transaction_id, to: 'accepted' }) as const;

describe('insertOrder', () => {
  test('what it answers is what is there', async () => {
    const record = await aStoredOrder(database.db);
    expect(await findOrder(database.db, record.order_id)).toEqual(record);
  });

  test('two at once write one', async () => {
    const order = anOrder();
    const times = { created: NOW, order_end: NOW + 1, transaction_end: NOW + 1 };
    await Promise.all([1, 2, 3, 4].map(() => insertOrder(database.db, order, aTransaction(order.id), times)));
    expect((await view(order.id)).transactions).toHaveLength(1);
    expect((await view(order.id)).transactions[0]!.events).toHaveLength(1);
  });

  test('free-form data comes back exactly: order of keys, numbers, unicode, __proto__', async () => {
    const extra = JSON.parse('{"z":1,"a":{"__proto__":{"x":null}},"2":1.50,"1":[1e3,"\\ud83d\\ude00",""]}') as object;
    const { order_id } = await aStoredOrder(database.db, { extra, client: {}, order_lines: [{ b: 1, a: 2 }], amount: Number.MAX_SAFE_INTEGER });
    const stored = await view(order_id);
    expect(JSON.stringify(stored.extra)).toBe(JSON.stringify(extra));
    expect([stored.client, stored.order_lines, stored.amount]).toEqual([{}, [{ b: 1, a: 2 }], Number.MAX_SAFE_INTEGER]);
  });
});

describe('moveOrder: the one function that moves', () => {
  test('status, event, modified and webhook come together', async () => {
    const order = await aStoredOrder(database.db);
    const moved = await moveOrder(database.db, order, accept(order), { ...by, now: NOW + 1_000, result: 'approved', transaction: { response_code: '00', captured_amount: 500 } });
    expect(moved).toEqual(await findOrder(database.db, order.order_id));
    expect(moved).toMatchObject({ status: 'completed', version: 1, moves: 1, deliveries: [1] });
    const { status, completed, modified, transactions } = await view(order.order_id);
    expect([status, Date.parse(completed!), Date.parse(modified)]).toEqual(['completed', NOW + 1_000, NOW + 1_000]);
    expect(transactions[0]).toMatchObject({ status: 'accepted', response_code: '00', captured_amount: 500 });
    expect(transactions[0]!.events.map(({ event, source, result }) => [event, source, result])).toEqual([
      ['new', 'merchant', null],
      ['accepted', 'processor', 'approved'],
    ]);
  });

  test('the second time writes nothing', async () => {
    const order = await aStoredOrder(database.db);
    const first = await moveOrder(database.db, order, accept(order), by);
    // The answer was lost: the caller still has the order as it was.
    expect(await moveOrder(database.db, order, accept(order), by)).toEqual(first);
    expect((await view(order.order_id)).transactions[0]!.events).toHaveLength(2);
  });

  test('of two that exclude each other exactly one wins, and the other says so', async () => {
    for (let round = 0; round < 10; round += 1) {
      const order = await aStoredOrder(database.db);
      const outcomes = await Promise.allSettled([
        moveOrder(database.db, order, accept(order), by),
        moveOrder(database.db, order, { transaction_id: order.transactions[0]!.transaction_id, to: 'error' }, by),
      ]);
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      const { status, transactions } = await view(order.order_id);
      expect([`${status} ${transactions[0]!.status}`, transactions[0]!.events.length]).toEqual([expect.stringMatching(/^(completed accepted|processing error)$/), 2]);
    }
  });

  test('a webhook is written when the order’s status changes, and only then', async () => {
    const order = await aStoredOrder(database.db);
    const declined = await moveOrder(database.db, order, { transaction_id: order.transactions[0]!.transaction_id, to: 'error' }, by);
    expect([declined.status, declined.deliveries]).toEqual(['processing', [1]]);
    const times = { created: NOW, end: NOW + 1 };
    const again = await insertTransaction(database.db, declined, aTransaction(order.order_id, { attempt: 2 }), times);
    const declinedAgain = await moveOrder(database.db, again, { transaction_id: again.transactions[1]!.transaction_id, to: 'error' }, by);
    expect([declinedAgain.status, declinedAgain.moves, declinedAgain.deliveries]).toEqual(['processing', 1, [1]]);
  });

  test('the URL is read at the move: that of the order, else that of the project, else none', async () => {
    const urls: unknown[] = [];
    for (const webhook_url of ['https://order.example/', undefined]) {
      const order = await aStoredOrder(database.db, { webhook_url });
      await moveOrder(database.db, order, { ended: 'cancelled' }, by);
      urls.push(...((await database.db('webhook_deliveries').where({ order_id: order.order_id }).select('url')) as { url: string }[]).map(({ url }) => url));
    }
    const order = await aStoredOrder(database.db);
    await database.db('projects').update({ webhook_url: null });
    const { deliveries } = await moveOrder(database.db, order, { ended: 'cancelled' }, by);
    await database.db('projects').update({ webhook_url: 'https://shop.example/hook' });
    expect([urls, deliveries]).toEqual([['https://order.example/', 'https://shop.example/hook'], []]);
  });

  test('the database refuses what the tables do not allow, whoever asks', async () => {
    const order = await aStoredOrder(database.db);
    const id = order.transactions[0]!.transaction_id;
    const accepted = await moveOrder(database.db, order, accept(order), by);
    for (const to of TRANSACTION_STATUSES.filter((status) => !mayMove(TRANSACTION_MOVES, 'accepted' as TransactionStatus, status) && status !== 'accepted')) {
      await expect(moveOrder(database.db, accepted, { transaction_id: id, to }, by)).rejects.toThrow(/transaction accepted →/);
    }
    // A caller whose idea of the order is wrong altogether.
    const forged = { ...accepted, status: 'new', transactions: order.transactions } as typeof order;
    await expect(moveOrder(database.db, forged, { transaction_id: id, to: 'error' }, by)).rejects.toThrow('the guard refused');
    expect(mayMove(ORDER_MOVES, 'completed', 'processing')).toBe(false);
    expect((await view(order.order_id)).status).toBe('completed');
  });
});

describe('insertTransaction', () => {
  const times = { created: NOW, end: NOW + 1 };

  test('twice at once is one attempt', async () => {
    const order = await aStoredOrder(database.db, { transaction: false });
    const attempt = aTransaction(order.order_id);
    const records = await Promise.all([1, 2, 3].map(() => insertTransaction(database.db, order, attempt, times)));
    expect(new Set(records.map(({ version }) => version))).toEqual(new Set([1]));
    const { transactions } = await view(order.order_id);
    expect(transactions.map(({ events }) => events.map(({ event, source }) => [event, source]))).toEqual([[['new', 'customer']]]);
  });

  test('not to an order that changed meanwhile', async () => {
    const order = await aStoredOrder(database.db, { transaction: false });
    await moveOrder(database.db, order, { ended: 'cancelled' }, by);
    const after = await insertTransaction(database.db, order, aTransaction(order.order_id), times);
    expect([after.status, after.transactions]).toEqual(['cancelled', []]);
  });
});

describe('surface 10: past not_after nothing is written', () => {
  const times = { created: NOW, order_end: NOW + 1, transaction_end: NOW + 1 };
  const tooLate = { error: 'ServiceUnavailable' };
  const insert = (order: ReturnType<typeof anOrder>, not_after?: number) => insertOrder(database.db, order, aTransaction(order.id), { ...times, not_after });
  const attempt = (order: OrderRecord, not_after?: number, n = 1) =>
    insertTransaction(database.db, order, aTransaction(order.order_id, { attempt: n }), { created: NOW, end: NOW + 1, not_after });
  const counts = async (order_id: string) => {
    const of = (table: string, column: string) => database.db(table).where({ [column]: order_id }).count({ n: '*' });
    const [[orders], [transactions]] = (await Promise.all([of('orders', 'id'), of('transactions', 'order_id')])) as [[{ n: number }], [{ n: number }]];
    return [orders.n, transactions.n];
  };

  test('an order: refused, in time it is written, and late again it goes on', async () => {
    const order = anOrder();
    await expect(insert(order, Date.now() - 1)).rejects.toMatchObject(tooLate);
    expect(await counts(order.id)).toEqual([0, 0]);
    const record = await insert(order, Date.now() + 10_000);
    expect(await insert(order, Date.now() - 1)).toEqual(record);
    expect(await counts(order.id)).toEqual([1, 1]);
  });

  test('an order whose statement was held up until then', async () => {
    const order = anOrder();
    await expect(heldUpPast(database.db, 'lock table orders', (not_after) => insert(order, not_after))).rejects.toMatchObject(tooLate);
    expect(await counts(order.id)).toEqual([0, 0]);
  });

  test('an attempt: refused, in time it is written, and late again it goes on', async () => {
    const order = await aStoredOrder(database.db, { transaction: false });
    await expect(attempt(order, Date.now() - 1)).rejects.toMatchObject(tooLate);
    expect(await findOrder(database.db, order.order_id)).toEqual(order);
    const record = await attempt(order, Date.now() + 10_000);
    expect(await attempt(order, Date.now() - 1)).toEqual(record);
    expect(await counts(order.order_id)).toEqual([1, 1]);
  });

  test.each([
    ['the table', 'lock table orders'],
    ['the row of its order', 'select 1 from orders where id = :id for update'],
  ])('an attempt whose statement waited for %s until then', async (_title, lock) => {
    const order = await aStoredOrder(database.db, { transaction: false });
    const held = heldUpPast(database.db, lock.replace(':id', `'${order.order_id}'`), (not_after) => attempt(order, not_after));
    await expect(held).rejects.toMatchObject(tooLate);
    expect(await findOrder(database.db, order.order_id)).toEqual(order);
  });

  test('an attempt at an order whose fields were changed meanwhile', async () => {
    const order = await aStoredOrder(database.db, { transaction: false });
    await database.db('orders').where({ id: order.order_id }).increment('version', 1);
    await expect(attempt(order, Date.now() - 1)).rejects.toMatchObject(tooLate);
    expect(await counts(order.order_id)).toEqual([1, 0]);
    expect((await attempt(order, Date.now() + 10_000)).transactions).toHaveLength(1);
  });
});

describe('moveOrder from the versions its sender allows', () => {
  const cancel = (order: OrderRecord, versions?: number[]) => moveOrder(database.db, order, { ended: 'cancelled' }, { ...by, source: 'merchant', versions });

  test('somebody was first: PreconditionFailed, and nothing moves', async () => {
    const order = await aStoredOrder(database.db);
    await database.db('orders').where({ id: order.order_id }).update({ version: 1, description: 'changed' });
    await expect(cancel(order, [0])).rejects.toMatchObject({ error: 'PreconditionFailed' });
    expect(await view(order.order_id)).toMatchObject({ status: 'new', version: 1 });
  });

  test.each([
    ['a version that is allowed too', [0, 1]],
    ['any version', undefined],
  ])('somebody was first with %s: it moves', async (_title, versions) => {
    const order = await aStoredOrder(database.db);
    await database.db('orders').where({ id: order.order_id }).update({ version: 1 });
    expect(await cancel(order, versions)).toMatchObject({ status: 'cancelled', version: 2 });
  });

  test('the repeat of the very move, whose answer was lost, is no failure; three at once are one', async () => {
    const order = await aStoredOrder(database.db);
    const [first] = await Promise.all([1, 2, 3].map(() => cancel(order, [0])));
    expect(first).toMatchObject({ status: 'cancelled', version: 1 });
    expect(await cancel(order, [0])).toEqual(first);
    expect((await view(order.order_id)).transactions[0]!.events).toHaveLength(2);
  });
});

describe('the schema holds what must hold whatever the code does', () => {
  test.each([
    ['an amount below 0', 'update orders set amount = -1'],
    ['an amount no program counts exactly', 'update orders set amount = 9007199254740992'],
    ['a status nobody knows', "update orders set status = 'paid'"],
    ['completed without its instant', "update orders set status = 'completed', completed = null"],
    ['its instant without completed', "update orders set status = 'new', completed = created"],
    ['more captured than charged', "update transactions set status = 'accepted', captured_amount = amount + 1"],
    ['captured and not accepted', "update transactions set status = 'error', captured_amount = 1"],
    ['an attempt twice', 'update transactions set attempt = 1'],
    ['an eleventh attempt of a webhook', 'update webhook_attempts set attempt = 11'],
  ])('%s', async (_title, sql) => {
    const order = await aStoredOrder(database.db, { amount: 1 });
    const declined = await moveOrder(database.db, order, { transaction_id: order.transactions[0]!.transaction_id, to: 'error' }, by);
    await insertTransaction(database.db, declined, aTransaction(order.order_id, { attempt: 2 }), { created: NOW, end: NOW + 1 });
    await database.db('webhook_attempts').insert({ order_id: order.order_id, n: 1, attempt: 1, time_limit_ms: 1, started: new Date(NOW), duration_ms: 1 }).onConflict().ignore();
    const only = sql.includes('update orders') ? `id = '${order.order_id}'` : `order_id = '${order.order_id}'`;
    await expect(database.db.raw(`${sql} where ${only}`)).rejects.toThrow(/violates|value too long/);
  });
});
