import { queryRows } from '../../../../src/db/query';
import { moveOrder } from '../../../../src/db/orders/move-order';
import { orderIdsByCreation, recordCondition, reportTexts } from '../../../../src/db/search/report-rows';
import { allParts } from '../../../../src/db/pages';
import { SEARCH_FIELD_NAMES } from '../../../../src/domain/query/fields';
import { parseQuery } from '../../../../src/domain/query/parse';
import { createTestDatabase, planOf } from '../../../support/database';
import { NOW, PROJECT } from '../../../support/domain';
import { aStoredOrder, writeOrders } from '../../../support/rows';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());

const conditionOf = (query: string) => {
  const parsed = parseQuery(query);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return recordCondition(parsed.query);
};

/** The first orders of the project that a query finds, at most as many as a report reads at a time. */
async function find(query: string, rows = 1_000) {
  const wanted = { project_id: PROJECT.id, condition: conditionOf(query)!, direction: 'asc' as const };
  return await orderIdsByCreation(database.db, wanted, { rows, after: undefined });
}

test.each(['modified:2026-01-15', 'expires_at:2026-01-15', 'created:2026-01-15 status:new', 'books'])(
  'is not asked for %s, for which it would read all orders of the project',
  (query) => {
    expect(conditionOf(query)).toBeUndefined();
  },
);

test('rules 20.4: a decline is one of the issuer: not one that an operator has set', async () => {
  const statusOf = async (over: object) => {
    const order = await aStoredOrder(database.db);
    const change = { transaction_id: order.transactions[0]!.id, to: 'error' } as const;
    await moveOrder(database.db, order, change, { source: 'processor', now: NOW, result: 'declined', ...over });
    const [row] = await reportTexts(database.db, [order.id], SEARCH_FIELD_NAMES);
    return row!.texts[SEARCH_FIELD_NAMES.indexOf('transaction.status')];
  };
  expect([await statusOf({}), await statusOf({ source: 'operator', reason: 'Ticket 42' })]).toEqual([
    'declined',
    'error',
  ]);
});

describe('a report of some days in the middle of two years', () => {
  const DAY_MS = 86_400_000;
  const dayOf = (n: number) => new Date(Date.UTC(2024, 0, 1) + n * DAY_MS).toISOString();

  beforeAll(async () => {
    await database.db.raw('truncate orders cascade');
    await writeOrders(database.db, [
      ...Array.from({ length: 3_600 }, (_, n) => ({ created: dayOf(n / 5), completed: dayOf(n / 5 + 30) })),
      { created: dayOf(400), status: 'new', completed: null, expires_at: dayOf(401) },
    ]);
    await database.db.raw('analyze orders');
  });

  test.each([
    ['completed', 'completed:[2025-01-01 TO 2025-01-02]', 'orders_project_completed', 10],
    ['created', 'created:[2025-01-01 TO 2025-01-02]', 'orders_project_created', 10],
  ])('reads only the orders that were %s on them', async (_, query, index, orders) => {
    expect(await planOf(database, () => find(query))).toMatch(new RegExp(`"Index Name": ?"${index}"[^}]*"Index Cond"`));
    expect((await find(query)).rows).toHaveLength(orders);
  });

  test.each([
    ['-completed:[2024-01-01 TO 2030-01-01]', 1],
    ['-(-completed:[2024-01-01 TO 2030-01-01])', 3_600],
    ['created:2025-02-04 -completed:[2024-01-01 TO 2030-01-01]', 1],
    ['completed:[2030-01-01 TO *] OR created:2025-02-04', 6],
  ])('an order that has no completed meets a condition as if it were false: %s', async (query, orders) => {
    expect((await find(query, 10_000)).rows).toHaveLength(orders);
  });

  test.each(['asc', 'desc'] as const)('parts follow one another: each order once, created %s', async (direction) => {
    const wanted = { project_id: PROJECT.id, condition: conditionOf('*')!, direction };
    const found: string[] = [];
    const parts = allParts((after) => orderIdsByCreation(database.db, wanted, { rows: 700, after }));
    for await (const rows of parts) found.push(...rows.map(({ order_id }) => order_id));
    const all = await queryRows<{ id: string }>(
      database.db,
      `select id from orders order by created ${direction}, sequence ${direction}`,
    );
    expect(found).toEqual(all.map(({ id }) => id));
  });
});
