import { SEARCH_BYTES_MAX } from '../../../src/contract/search';
import { queryRows } from '../../../src/db/query';
import { writeOrders } from '../../support/rows';
import { aSearchWorld, type SearchAnswer } from '../../support/search';
import { setUp } from '../../support/set-up';

/** Orders with as many order lines as there may be: more than one answer may have. */
const COUNT = 180;
const world = setUp(aSearchWorld);
let ids: string[];
beforeAll(async () => {
  world.anIndexer();
  const order_lines = [{ name: 'x'.repeat(126 * 1_024) }];
  const instant = (n: number) => new Date(Date.UTC(2026, 0, 15) + n * 1_000).toISOString();
  ids = await writeOrders(
    world.db,
    Array.from({ length: COUNT }, (_, n) => ({ order_lines, created: instant(n), merchant_order_id: `M-${n % 2}` })),
  );
  await world.indexed();
});

async function page(body: object): Promise<SearchAnswer & { is_truncated?: true; bytes: number }> {
  const response = await world.api.post('/v1/search/orders/', body);
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  return { ...(JSON.parse(text) as SearchAnswer), bytes: Buffer.byteLength(text) };
}

test('rules 20.21: an answer has 16 MiB at most, says that it was cut, and leads to the rest', async () => {
  const search = { query: '*', size: 1_000, sort: 'created' };
  const first = await page(search);
  expect([first.hits, first.is_truncated]).toEqual([COUNT, true]);
  expect(first.bytes).toBeLessThan(SEARCH_BYTES_MAX + 1_000);
  // Not much less either: the next order would have been too much.
  expect(first.bytes).toBeGreaterThan(SEARCH_BYTES_MAX - 2 * 126 * 1_024);
  const rest = await page({ ...search, search_after: first.sort });
  expect([rest.hits, rest.is_truncated, rest.sort]).toEqual([COUNT, undefined, undefined]);
  expect([...first.orders, ...rest.orders].map(({ id }) => id)).toEqual(ids);
});

test('rules 20.21: with a position instead of search_after the next page begins after the orders that came', async () => {
  const search = { query: '*', size: 1_000, sort: 'created desc' };
  const { orders } = await page(search);
  const rest = await page({ ...search, start: orders.length });
  expect([...orders, ...rest.orders].map(({ id }) => id)).toEqual(ids.toReversed());
});

test('orders that no longer meet the query are left out of a large answer, and of its hits', async () => {
  const { stopIndexers } = world;
  await stopIndexers();
  await queryRows(world.db, `update orders set merchant_order_id = 'changed' where id = any(:ids::uuid[])`, {
    ids: ids.slice(0, 10),
  });
  const { hits, orders } = await page({ query: 'merchant_order_id:M-1', size: 90, sort: 'created' });
  expect([hits, orders.map(({ id }) => id)]).toEqual([85, ids.filter((_, n) => n % 2 === 1 && n > 9)]);
});
