import { queryRows } from '../../../../src/db/query';
import { moveOrder } from '../../../../src/db/orders/move-order';
import { loadOrderSnapshot } from '../../../../src/db/orders/order-snapshot';
import { eventsAfter, currentPosition, projectsWithEvents } from '../../../../src/db/webhooks/events';
import { createTestDatabase } from '../../../support/database';
import { PROJECT } from '../../../support/domain';
import { aStoredOrder } from '../../../support/rows';
import { setUp } from '../../../support/set-up';
import { until } from '../../../support/waits';

const database = setUp(() => createTestDatabase());
const project_id = PROJECT.id;

async function aCancelledOrder(db = database.db): Promise<string> {
  const { id } = await aStoredOrder(database.db, { amount: 500 });
  const order = await loadOrderSnapshot(database.db, id);
  await moveOrder(db, order, { ended: 'cancelled' }, { source: 'merchant', now: Date.now() });
  return id;
}

/**
 * Returns once every event of before is read: an event waits for the older transactions of the whole server, also those
 * of other test files in databases of their own.
 */
async function olderTransactionsHaveEnded(): Promise<void> {
  const [row] = await queryRows<{ xid: string }>(database.db, 'select pg_current_xact_id()::text as xid');
  await until('older transactions end', async () => {
    const { xid } = await currentPosition(database.db);
    return BigInt(xid) > BigInt(row!.xid);
  });
}

test('rules 13.19: a change of status is an event; the events after a position come oldest first, each once', async () => {
  const start = { project_id, ...(await currentPosition(database.db)) };
  const [first, second] = [await aCancelledOrder(), await aCancelledOrder()];
  await olderTransactionsHaveEnded();
  const page = await eventsAfter(database.db, start, 1);
  expect(page.events).toMatchObject([{ order_id: first, project_id, n: null }]);
  const rest = await eventsAfter(database.db, { project_id, ...page.position }, 10);
  expect(rest.events.map(({ order_id }) => order_id)).toEqual([second]);
  const none = await eventsAfter(database.db, { project_id, ...rest.position }, 10);
  expect(none).toEqual({ events: [], position: rest.position });
});

test('rules 13.19: an event whose older transaction commits later is not passed over', async () => {
  const start = { project_id, ...(await currentPosition(database.db)) };
  const slow = await database.db.transaction();
  const of_slow = await aCancelledOrder(slow);
  const of_quick = await aCancelledOrder();
  expect((await eventsAfter(database.db, start, 10)).events).toEqual([]);
  expect(await projectsWithEvents(database.db, [start])).toEqual([]);
  await slow.commit();
  await olderTransactionsHaveEnded();
  expect(await projectsWithEvents(database.db, [start])).toEqual([start]);
  const { events } = await eventsAfter(database.db, start, 10);
  expect(events.map(({ order_id }) => order_id)).toEqual([of_slow, of_quick]);
});

test('rules 13.19: changes of live projects are no events', async () => {
  const start = { project_id, ...(await currentPosition(database.db)) };
  const isTest = (is_test: boolean) => queryRows(database.db, 'update projects set is_test = :is_test', { is_test });
  await isTest(false);
  await aCancelledOrder();
  await isTest(true);
  await olderTransactionsHaveEnded();
  expect((await eventsAfter(database.db, start, 10)).events).toEqual([]);
});
