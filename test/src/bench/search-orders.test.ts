import { v7 as uuidv7 } from 'uuid';
import {
  changeOrders,
  continueIndexing,
  isIndexBehind,
  stopIndexing,
  writeBenchOrders,
} from '../../../src/bench/search-orders';
import { queryRows } from '../../../src/db/connection';
import { PROJECT } from '../../support/domain';
import { aSearchWorld } from '../../support/search';
import { plainOrders, plainSearch } from '../../support/search-orders';
import { setUp } from '../../support/set-up';

const world = setUp(aSearchWorld);

it('writes orders that the service reads and finds, and notes only changes made while indexing', async () => {
  const { db } = world;
  const order_ids = (await writeBenchOrders(db, 200, [PROJECT.id, uuidv7()])).slice(0, 10);
  expect(await isIndexBehind(db)).toBe(false);
  expect(
    plainSearch(await plainOrders(db), { op: 'equals', field: 'transaction.status', value: 'declined' }),
  ).toHaveLength(12);

  const [order_id = ''] = order_ids;
  await stopIndexing(db);
  await changeOrders(db, order_ids);
  expect(await isIndexBehind(db)).toBe(false);
  await continueIndexing(db);
  await changeOrders(db, order_ids, { order_id, merchant_order_id: 'found-1' });
  expect(await queryRows(db, 'select order_id from search_outbox', {})).toHaveLength(10);

  world.anIndexer();
  await world.indexed();
  expect((await world.search({ query: 'merchant_order_id:found-1' })).body.orders).toMatchObject([{ id: order_id }]);
});
