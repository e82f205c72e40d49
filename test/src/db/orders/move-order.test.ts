import { beginAttempt } from '../../../../src/db/orders/insert-order';
import { moveOrder } from '../../../../src/db/orders/move-order';
import { findOrderSnapshot } from '../../../../src/db/orders/order-snapshot';
import { recordPoll } from '../../../../src/db/orders/transactions';
import { findStoredOrder } from '../../../../src/db/orders/stored-order';
import type { OrderSnapshot } from '../../../../src/domain/order-snapshot';
import { createTestDatabase } from '../../../support/database';
import { aRequest, aTransaction, NOW } from '../../../support/domain';
import { aStoredOrder } from '../../../support/rows';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase({ webhook_url: 'https://shop.example/hook' }));

const by = { source: 'processor', now: NOW } as const;
const view = async (order_id: string) => (await findStoredOrder(database.db, order_id))!;
const accept = (order: { transactions: { id: string }[] }) =>
  ({ transaction_id: order.transactions.at(-1)!.id, to: 'accepted' }) as const;

describe('moveOrder: the one function that moves', () => {
  test('rules 4.6: status, event, modified and webhook come together', async () => {
    const order = await aStoredOrder(database.db);
    const moved = await moveOrder(database.db, order, accept(order), {
      ...by,
      now: NOW + 1_000,
      result: 'approved',
      transaction: { response_code: '00', captured_amount: 500 },
    });
    expect(moved).toEqual(await findOrderSnapshot(database.db, order.id));
    expect(moved).toMatchObject({ status: 'completed', version: 1, deliveries: [1] });
    const { status, completed, modified, transactions } = await view(order.id);
    expect([status, Date.parse(completed!), Date.parse(modified)]).toEqual(['completed', NOW + 1_000, NOW + 1_000]);
    expect(transactions[0]).toMatchObject({ status: 'accepted', response_code: '00', captured_amount: 500 });
    expect(transactions[0]!.events.map(({ event, source, result }) => [event, source, result])).toEqual([
      ['new', 'merchant', null],
      ['accepted', 'processor', 'approved'],
    ]);
  });

  test.each([
    ['before we noticed', NOW - 90_000, NOW - 90_000],
    ['by a clock ahead of ours', NOW + 1, NOW],
    ['at an instant nobody told', undefined, NOW],
  ])('rules 4.12: what happened at the processor %s', async (_title, occurred, expected) => {
    const order = await aStoredOrder(database.db);
    await moveOrder(database.db, order, accept(order), {
      ...by,
      ...(occurred !== undefined && { occurred: new Date(occurred).toISOString() }),
    });
    const [event] = (await view(order.id)).transactions[0]!.events.slice(-1);
    expect([event!.occurred, event!.noticed].map((instant) => Date.parse(instant))).toEqual([expected, NOW]);
  });

  test('rules 10.3: once the customer is back from the issuer, polls are counted anew', async () => {
    const order = await aStoredOrder(database.db);
    const transaction_id = order.transactions[0]!.id;
    await moveOrder(database.db, order, { transaction_id, to: 'pending' }, by);
    const poll = { transaction_id, now: NOW, poll_at: NOW, is_unknown: true };
    await recordPoll(database.db, poll);
    const at_issuer = (await findOrderSnapshot(database.db, order.id))!;
    expect(at_issuer.transactions[0]!.polls).toBe(1);
    const back = await moveOrder(database.db, at_issuer, { transaction_id, to: 'processing' }, by);
    expect(back).toEqual(await findOrderSnapshot(database.db, order.id));
    expect(back.transactions[0]!.polls).toBeUndefined();
    await recordPoll(database.db, poll);
    const answered = await findOrderSnapshot(database.db, order.id);
    const paid = await moveOrder(database.db, answered!, accept(order), by);
    expect(paid.transactions[0]!.polls).toBe(1);
  });

  test('rules 4.6: the second time writes nothing', async () => {
    const order = await aStoredOrder(database.db);
    const first = await moveOrder(database.db, order, accept(order), by);
    // The answer was lost: the caller still has the order as it was.
    expect(await moveOrder(database.db, order, accept(order), by)).toEqual(first);
    expect((await view(order.id)).transactions[0]!.events).toHaveLength(2);
  });

  test('of two that exclude each other exactly one wins, and the other says so', async () => {
    for (let round = 0; round < 10; round += 1) {
      const order = await aStoredOrder(database.db);
      const outcomes = await Promise.allSettled([
        moveOrder(database.db, order, accept(order), by),
        moveOrder(database.db, order, { transaction_id: order.transactions[0]!.id, to: 'error' }, by),
      ]);
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      const { status, transactions } = await view(order.id);
      expect([`${status} ${transactions[0]!.status}`, transactions[0]!.events.length]).toEqual([
        expect.stringMatching(/^(completed accepted|processing error)$/),
        2,
      ]);
    }
  });

  test('a webhook is written when the order’s status changes, and only then', async () => {
    const order = await aStoredOrder(database.db);
    const declined = await moveOrder(
      database.db,
      order,
      { transaction_id: order.transactions[0]!.id, to: 'error' },
      by,
    );
    expect([declined.status, declined.deliveries]).toEqual(['processing', [1]]);
    const times = { created: NOW, expires_at: NOW + 1, request: aRequest() };
    const again = await beginAttempt(database.db, declined, aTransaction(order.id, { attempt: 2 }), times);
    const declinedAgain = await moveOrder(
      database.db,
      again,
      { transaction_id: again.transactions[1]!.id, to: 'error' },
      by,
    );
    expect([declinedAgain.status, declinedAgain.deliveries]).toEqual(['processing', [1]]);
  });

  test('rules 13.3: the URL is read at the move: that of the order, else that of the project, else none', async () => {
    const urls: unknown[] = [];
    for (const webhook_url of ['https://order.example/', undefined]) {
      const order = await aStoredOrder(database.db, { webhook_url });
      await moveOrder(database.db, order, { ended: 'cancelled' }, by);
      urls.push(
        ...(
          (await database.db('webhook_deliveries').where({ order_id: order.id }).select('url')) as {
            url: string;
          }[]
        ).map(({ url }) => url),
      );
    }
    const order = await aStoredOrder(database.db);
    await database.db('projects').update({ webhook_url: null });
    const { deliveries } = await moveOrder(database.db, order, { ended: 'cancelled' }, by);
    await database.db('projects').update({ webhook_url: 'https://shop.example/hook' });
    expect([urls, deliveries]).toEqual([['https://order.example/', 'https://shop.example/hook'], []]);
  });
});

test('rules 29.5: a move keeps the details of the same card, without what was erased, and takes those of another', async () => {
  const [stored, erased] = [{ vault_token: 'tok', cardholder_name: 'Ada' }, { vault_token: 'tok' }];
  const another = { vault_token: 'another', cardholder_name: 'Ada' };
  const found: unknown[] = [];
  for (const paid_with of [stored, another]) {
    const order = await aStoredOrder(database.db, { transaction: { payment_method_details: stored } });
    await database.db('transactions').where({ order_id: order.id }).update({ payment_method_details: erased });
    await moveOrder(database.db, order, accept(order), { ...by, transaction: { payment_method_details: paid_with } });
    found.push((await view(order.id)).transactions[0]!.payment_method_details);
  }
  expect(found).toEqual([erased, another]);
});

test('rules 4.15: modified of a new version is later than before, and what the move records has its own instant', async () => {
  const order = await aStoredOrder(database.db);
  const later = new Date(NOW + 10_000);
  for (const table of ['orders', 'transactions']) await database.db(table).update({ modified: later });
  await moveOrder(database.db, order, accept(order), { ...by, now: NOW + 5_000 });
  const { modified, completed, transactions } = await view(order.id);
  const [event] = transactions[0]!.events.slice(-1);
  expect(
    [modified, transactions[0]!.modified, completed!, event!.noticed].map((instant) => Date.parse(instant)),
  ).toEqual([NOW + 10_000, NOW + 10_000, NOW + 5_000, NOW + 5_000]);
  // A microsecond later: receivers compare these texts.
  expect(modified).toMatch(/\.000001/);
});

describe('moveOrder from the versions its sender allows', () => {
  const cancel = (order: OrderSnapshot, versions?: number[]) =>
    moveOrder(database.db, order, { ended: 'cancelled' }, { ...by, source: 'merchant', versions });

  test('somebody was first: PreconditionFailed, nothing moves, and no webhook is written', async () => {
    const order = await aStoredOrder(database.db);
    await database.db('orders').where({ id: order.id }).update({ version: 1, description: 'changed' });
    await expect(cancel(order, [0])).rejects.toMatchObject({ error: 'PreconditionFailed' });
    expect(await view(order.id)).toMatchObject({ status: 'new', version: 1 });
    expect(await database.db('webhook_deliveries').where({ order_id: order.id })).toEqual([]);
  });

  test.each([
    ['a version that is allowed too', [0, 1]],
    ['any version', undefined],
  ])('somebody was first with %s: it moves', async (_title, versions) => {
    const order = await aStoredOrder(database.db);
    await database.db('orders').where({ id: order.id }).update({ version: 1 });
    expect(await cancel(order, versions)).toMatchObject({ status: 'cancelled', version: 2 });
  });

  test('the repeat of the very move, whose answer was lost, is no failure; three at once are one', async () => {
    const order = await aStoredOrder(database.db);
    const [first] = await Promise.all([1, 2, 3].map(() => cancel(order, [0])));
    expect(first).toMatchObject({ status: 'cancelled', version: 1 });
    expect(await cancel(order, [0])).toEqual(first);
    expect((await view(order.id)).transactions[0]!.events).toHaveLength(2);
  });
});
