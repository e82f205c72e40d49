import { queryRows } from '../../../../src/db/query';
import { endWatch, endWatchOfReversed, insertWatch } from '../../../../src/db/orders/late-approvals';
import { moveOrder } from '../../../../src/db/orders/move-order';
import { createTestDatabase } from '../../../support/database';
import { MINUTE, NOW } from '../../../support/domain';
import { aStoredOrder } from '../../../support/rows';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());

/** Until when the processor is asked about a transaction, in milliseconds after NOW. */
async function watched(transaction_id: string): Promise<number | undefined> {
  const [watch] = await queryRows<{ poll_at: string }>(
    database.db,
    'select poll_at from late_approval_watches where transaction_id = :transaction_id',
    { transaction_id },
  );
  return watch && Date.parse(watch.poll_at) - NOW;
}

async function cancelledAtTheIssuer(): Promise<string> {
  const order = await aStoredOrder(database.db);
  const { id } = order.transactions[0]!;
  const by = { source: 'processor', now: NOW } as const;
  const pending = await moveOrder(database.db, order, { transaction_id: id, to: 'pending' }, by);
  expect(await watched(id)).toBeUndefined();
  await moveOrder(database.db, pending, { ended: 'cancelled' }, by);
  return id;
}

test('written with the end; a later one changes nothing', async () => {
  const id = await cancelledAtTheIssuer();
  await insertWatch(database.db, id, { poll_at: NOW, began: NOW });
  expect(await watched(id)).toBe(15 * MINUTE);
});

test('rules 26.2: an order is compared again once its watch has ended without a reversal', async () => {
  const changesOf = async (end: (id: string) => Promise<void>) => {
    const id = await cancelledAtTheIssuer();
    const order = () =>
      database
        .db('orders as o')
        .join('transactions as t', 't.order_id', 'o.id')
        .where('t.id', id)
        .first('o.version', 'o.modified') as unknown as Promise<{ version: number; modified: string }>;
    await database.db('orders').update({ modified: new Date(0) });
    const before = await order();
    await end(id);
    expect(await watched(id)).toBeUndefined();
    const after = await order();
    return [after.version - before.version, Date.parse(after.modified) > Date.now() - MINUTE];
  };
  expect(await changesOf((id) => endWatch(database.db, id))).toEqual([1, true]);
  expect(await changesOf((id) => endWatchOfReversed(database.db, id))).toEqual([0, false]);
});
