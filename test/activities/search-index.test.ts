import { checkSearchIndex } from '../../activities/search-index';
import { queryRows } from '../../src/db/query';
import { INDEX } from '../../src/search/settings';
import { writeOrders } from '../support/rows';
import { aSearchWorld } from '../support/search';
import { setUp } from '../support/set-up';

const world = setUp(aSearchWorld);

const check = () => checkSearchIndex({ db: world.db, index: world.writer });
const forget = () => queryRows(world.db, 'delete from search_outbox');
const EQUAL = { orders: 4, rows: 4, missing: 0, different: 0, unknown: 0, refused: 0 };
const GONE = '0190c000-0000-7000-8000-0000000000ff';

it('rules 20.18: finds orders that the index lacks, has otherwise or should not have, and has them written again', async () => {
  const [kept, changed, lost, added] = ['kept', 'changed', 'lost', 'added'];
  const ids = await writeOrders(
    world.db,
    [kept, changed, lost].map((merchant_order_id) => ({ merchant_order_id })),
  );
  world.anIndexer();
  await world.indexed();
  const ids_of_added = await writeOrders(world.db, [{ merchant_order_id: added }]);
  await world.indexed();
  expect(await check()).toEqual(EQUAL);

  await world.stopIndexers();
  // Changes that never reach the outbox, as no statement of the service makes.
  await queryRows(world.db, "update orders set description = 'otherwise' where id = :id", { id: ids[1] });
  await forget();
  await world.writer.write(INDEX, [
    { order_id: ids[2]!, documents: [] },
    { order_id: GONE, documents: [{ pk: `${GONE}_0`, order_sequence: 99, row_sequence: 99, project_id: '=x' }] },
  ]);
  // One that waits for the indexer is no difference.
  await queryRows(world.db, "update orders set description = 'on its way' where id = :id", { id: ids_of_added[0] });
  expect(await check()).toEqual({ ...EQUAL, missing: 1, different: 1, unknown: 1 });
  world.anIndexer();
  await world.indexed();
  expect(await check()).toEqual(EQUAL);
  expect((await world.search({ query: 'otherwise' })).body.orders).toMatchObject([{ id: ids[1] }]);
});
