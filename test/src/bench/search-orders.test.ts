import { v7 as uuidv7 } from 'uuid';
import { indexedOrders } from '../../../activities/search-index';
import {
  changeOrders,
  continueIndexing,
  isIndexBehind,
  stopIndexing,
  writeBenchOrders,
} from '../../../src/bench/search-orders';
import { queryRows } from '../../../src/db/query';
import { stored } from '../../../src/search/text';
import { createTestDatabase } from '../../support/database';
import { PROJECT } from '../../support/domain';
import { plainOrders, plainSearch } from '../../support/search-orders';
import { setUp } from '../../support/set-up';

const database = setUp(() => createTestDatabase());

it('writes orders that the service reads and indexes, and notes only changes made while indexing', async () => {
  const { db } = database;
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
  expect(await queryRows(db, 'select order_id from search_outbox')).toHaveLength(10);
  expect(await indexedOrders(db, [order_id])).toMatchObject([
    { order_id, documents: [{ merchant_order_id: stored('found-1') }] },
  ]);
});
