import { isDeepStrictEqual } from 'node:util';
import { queryColumn } from '../../../src/db/query';
import { writeOrders, type WrittenOrder } from '../../support/rows';
import { aSearchWorld, type SearchAnswer } from '../../support/search';
import { setUp } from '../../support/set-up';
import { sendUntilAnswered } from '../../support/waits';

/** More than `start` reaches, which is 10,000. */
const COUNT = 10_500;
const DAY = Date.UTC(2026, 0, 1);
const instant = (ms: number) => new Date(DAY + ms).toISOString();

/** Of those that were created first: a sequence of six small pages. */
const FEW = 168;

const world = setUp(aSearchWorld);
/** Ids of all orders there were at first. */
let first: string[];

/** Many orders share an instant or an amount; some have no transaction, some are not completed. */
function anyOrder(n: number): WrittenOrder {
  const created = instant(Math.floor(n / 7) * 1_000);
  return {
    merchant_order_id: `M-${n}`,
    amount: n % 97,
    created,
    modified: instant(n * 1_000),
    ...(n % 3 === 0 ? { status: 'new', transactions: [] } : { status: 'completed', completed: created }),
    ...(n % 3 === 1 && { transactions: [{ status: 'error' }, { status: 'accepted' }] }),
  };
}

/** Finds as many of those that were created first. */
const createdFirst = (count: number) => `created:[* TO "${instant((count / 7) * 1_000)}"}`;

const many = (from: number, count: number) => Array.from({ length: count }, (_, n) => anyOrder(from + n));

beforeAll(async () => {
  world.anIndexer();
  first = [];
  for (let n = 0; n < COUNT; n += 3_500) first.push(...(await writeOrders(world.db, many(n, 3_500))));
  await world.indexed();
});

async function page(body: object): Promise<SearchAnswer> {
  const answer = await sendUntilAnswered<SearchAnswer>(() => world.search(body));
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}

/**
 * The ids of all orders of each sequence, which are read page by page beside each other. `between` happens before every
 * fourth of their pages, beginning with the second.
 */
async function sequences(bodies: readonly object[], between = async () => undefined as unknown): Promise<string[][]> {
  const all = bodies.map((body) => ({ body, search_after: -1 as string | number | undefined, ids: [] as string[] }));
  for (let n = 1; all.some(({ search_after }) => search_after !== undefined); n += 1) {
    for (const one of all.filter(({ search_after }) => search_after !== undefined)) {
      const { orders, sort } = await page({ ...one.body, search_after: one.search_after });
      one.ids.push(...orders.map(({ id }) => id));
      one.search_after = sort;
    }
    // Each time the index takes in what is new: more often than this makes the test slow.
    if (n % 4 === 1) await between();
  }
  return all.map(({ ids }) => ids);
}

/** The ids by the record, as the sort wants them: what has no value last, the rest by its number. */
async function expectedOrder(field: string, direction: string): Promise<string[]> {
  const column =
    field === 'transaction.amount' ? '(select max(amount) from transactions where order_id = o.id)' : `o.${field}`;
  return await queryColumn<string>(
    world.db,
    `select o.id from orders o order by ${column} ${direction} nulls last, o.sequence ${direction}`,
  );
}

it('rules 20.1 and 20.9: start and size reach 10,000 orders, in the order of the sequence', async () => {
  const body = { query: '*', sort: 'amount', size: 1_000 };
  const expected = await expectedOrder('amount', 'asc');
  for (const start of [0, 500, 9_000]) {
    const { hits, orders } = await page({ ...body, start });
    expect([hits, orders.map(({ id }) => id)]).toEqual([COUNT, expected.slice(start, start + 1_000)]);
  }
});

it('rules 20.1 and 20.8: without size and sort an answer has the newest 20 orders', async () => {
  const { orders, sort } = await page({ query: '*' });
  expect(orders.map(({ id }) => id)).toEqual((await expectedOrder('created', 'desc')).slice(0, 20));
  expect(sort).toEqual(expect.any(String));
});

test.each([
  [
    'an order once, however many of its transactions meet the query',
    // Of 10,500 transactions.
    'NOT transaction.id:',
    COUNT,
    2 / 3,
  ],
  ['conditions on one transaction', 'transaction.status:error', COUNT, 1 / 3],
  ['conditions on orders', 'status:new', COUNT, 1 / 3],
  ['nothing', 'merchant_order_id:nobody', COUNT, 0],
])('hits counts %s', async (_title, query, among, share) => {
  const hits = among * share;
  const { orders, ...answer } = await page({ query, size: 100 });
  expect(answer.hits).toBe(hits);
  expect(answer.hits_is_estimate).toBeUndefined();
  const [few] = await sequences([{ query: `(${query}) ${createdFirst(FEW)}`, sort: 'amount desc', size: 20 }]);
  expect(new Set(few).size).toBe(FEW * share);
  expect(few).toHaveLength(FEW * share);
  expect(orders).toHaveLength(Math.min(hits, 100));
});

/** Every sort, with how many of those that were created first it finds: one goes beyond what `start` reaches. */
const SORTS = ['created', 'modified', 'completed', 'amount', 'transaction.amount'].flatMap((field) =>
  ['asc', 'desc'].map((direction) => ({
    field,
    direction,
    count: `${field} ${direction}` === 'amount asc' ? COUNT : FEW,
  })),
);

it('rules 20.8 and 20.9: while orders are added, a sequence by any sort has each that was there once, in order, what has no value last', async () => {
  let added = 0;
  const bodies = SORTS.map(({ field, direction, count }) => ({
    query: createdFirst(count),
    sort: `${field} ${direction}`,
    size: count === COUNT ? COUNT / 12 : FEW / 6,
  }));
  const found = await sequences(bodies, async () => {
    added += 497;
    // Before, between and after those that are there, of every amount.
    const more = [...many(added % FEW, 60), ...many((added * 13) % COUNT, 60)];
    await writeOrders(
      world.db,
      more.map((order) => ({ ...order, merchant_order_id: 'added' })),
    );
  });
  const wrong = [];
  for (const [n, { field, direction, count }] of SORTS.entries()) {
    const were_there = new Set(first.slice(0, count));
    const only = (ids: readonly string[]) => ids.filter((id) => were_there.has(id));
    const in_order = only(await expectedOrder(field, direction));
    if (!isDeepStrictEqual(only(found[n]!), in_order)) wrong.push(`${bodies[n]!.sort}: in another order`);
    if (new Set(found[n]).size < found[n]!.length) wrong.push(`${bodies[n]!.sort}: one twice`);
  }
  expect(wrong).toEqual([]);
});
