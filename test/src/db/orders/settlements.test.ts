import { indexedOrders } from '../../../../activities/search-index';
import { queryRows } from '../../../../src/db/query';
import { findStoredOrder } from '../../../../src/db/orders/stored-order';
import {
  lastSettlement,
  openSettlements,
  recordSettlements,
  type SettledTransaction,
} from '../../../../src/db/orders/settlements';
import { insertWatch, watchesOf } from '../../../../src/db/orders/late-approvals';
import { moveOrder } from '../../../../src/db/orders/move-order';
import type { OrderSnapshot } from '../../../../src/domain/order-snapshot';
import type { TransactionStatus } from '../../../../src/domain/transitions';
import { createTestDatabase } from '../../../support/database';
import { MINUTE, NOW, PROJECT, transactionIdOf } from '../../../support/domain';
import { aStoredOrder, writeOrders } from '../../../support/rows';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());

let number = 0;
const aSettlement = (order_id: string): SettledTransaction => ({
  number: (number += 7),
  transaction_id: transactionIdOf(order_id, 1),
  settlement_currency: 'EUR',
  settlement_amount: 1_213,
  fee_currency: 'EUR',
  fee_amount: 37,
});
const another = (order_id: string): SettledTransaction => ({ ...aSettlement(order_id), settlement_amount: 1 });
const view = async (id: string) => (await findStoredOrder(database.db, id))!;
const recordAll = async (settlements: SettledTransaction[], after?: number) =>
  await recordSettlements(database.db, { after: after ?? (await lastSettlement(database.db)), settlements, now: NOW });
const record = async (settlements: SettledTransaction[], after?: number) =>
  (await recordAll(settlements, after)).settled;
const anOrder = async () => (await writeOrders(database.db, [{}]))[0]!;

it('settles a transaction: a new version of the order, its amounts, statuses and events as they were', async () => {
  const id = await anOrder();
  const before = await view(id);
  await queryRows(database.db, 'delete from search_outbox');
  const settlement = aSettlement(id);
  expect(await record([settlement])).toBe(1);
  const { number: _number, transaction_id: _id, ...shown } = settlement;
  const modified = expect.stringMatching(/^2030-01-15/) as string;
  expect(await view(id)).toEqual({
    ...before,
    version: before.version + 1,
    modified,
    transactions: [{ ...before.transactions[0]!, ...shown, modified }],
  });
  expect(await queryRows(database.db, 'select order_id from search_outbox')).toEqual([{ order_id: id }]);
  expect(await lastSettlement(database.db)).toBe(settlement.number);
});

it('a page that comes twice is recorded once', async () => {
  const [one, two] = [await anOrder(), await anOrder()];
  const after = await lastSettlement(database.db);
  const page = [aSettlement(one), aSettlement(two)];
  const recorded = await Promise.all([record(page, after), record(page, after)]);
  expect(Math.min(...recorded)).toBe(0);
  expect(Math.max(...recorded)).toBe(2);
  expect(await record(page, after)).toBe(0);
  expect([(await view(one)).version, (await openSettlements(database.db)).waiting]).toEqual([1, 0]);
});

it('rules 20.20: one whose order comes later waits for it', async () => {
  const id = '0190c000-0000-7000-8000-0000000000f1';
  expect(await record([aSettlement(id)])).toBe(0);
  expect(await openSettlements(database.db)).toEqual({ waiting: 1, waiting_since: NOW });
  await writeOrders(database.db, [{ id }]);
  expect(await record([])).toBe(1);
  expect((await view(id)).transactions[0]).toMatchObject({ settlement_amount: 1_213 });
  expect(await openSettlements(database.db)).toEqual({ waiting: 0 });
});

it.each<[string, Partial<SettledTransaction>]>([
  ['is in a currency that ISO 4217 does not have', { settlement_currency: 'XCX' }],
  ['has a fee in such a currency', { fee_currency: 'XCX' }],
  ['has a fee without a currency', { fee_currency: undefined }],
  ['has the currency of a fee without its amount', { fee_amount: undefined }],
])('rules 20.20: one that %s waits for an operator, and the index can show the order', async (_what, over) => {
  const id = await anOrder();
  const { waiting } = await openSettlements(database.db);
  expect(await record([{ ...aSettlement(id), ...over }])).toBe(0);
  expect((await openSettlements(database.db)).waiting).toBe(waiting + 1);
  expect((await indexedOrders(database.db, [id])).map(({ order_id }) => order_id)).toEqual([id]);
});

it('rules 20.20: one that waits for an operator keeps no later one of its transaction waiting', async () => {
  const id = await anOrder();
  const { waiting } = await openSettlements(database.db);
  expect(await record([{ ...aSettlement(id), fee_currency: undefined }])).toBe(0);
  expect(await record([aSettlement(id)])).toBe(1);
  expect((await view(id)).transactions[0]).toMatchObject({ settlement_amount: 1_213, fee_amount: 37 });
  expect((await openSettlements(database.db)).waiting).toBe(waiting + 1);
});

it('an order that is being changed does not make the others wait, and is settled by the next fetch', async () => {
  const [busy, free] = [await anOrder(), await anOrder()];
  await database.db.transaction(async (trx) => {
    await queryRows(trx, 'select 1 from orders where id = :busy for update', { busy });
    expect(await record([aSettlement(busy), aSettlement(free)])).toBe(1);
  });
  expect((await view(busy)).transactions[0]!.settlement_amount).toBeNull();
  expect(await record([])).toBe(1);
  expect((await view(busy)).transactions[0]!.settlement_amount).toBe(1_213);
});

it.each<[string, (id: string) => Promise<number[]>]>([
  ['fetched later', async (id) => [await record([aSettlement(id)]), await record([another(id)])]],
  ['fetched together', async (id) => [await record([aSettlement(id), another(id)]), await record([])]],
])('a second settlement of a transaction, %s, overwrites nothing, and stays for an operator', async (_when, both) => {
  const id = await anOrder();
  const { waiting } = await openSettlements(database.db);
  expect(await both(id)).toEqual([1, 0]);
  expect((await view(id)).transactions[0]!.settlement_amount).toBe(1_213);
  expect((await openSettlements(database.db)).waiting).toBe(waiting + 1);
});

it('rules 10.18: of a transaction that is not paid as far as is known it is evidence: watched, and told to the caller', async () => {
  const [declined, open, paid] = [
    await aStoredOrder(database.db),
    await aStoredOrder(database.db),
    await aStoredOrder(database.db),
  ];
  const move = (order: OrderSnapshot, to: TransactionStatus) =>
    moveOrder(database.db, order, { transaction_id: order.transactions[0]!.id, to }, { source: 'processor', now: NOW });
  await move(declined, 'error');
  await move(open, 'processing');
  await move(paid, 'accepted');
  // It is watched by its own clock.
  const clock = { id: declined.id, project_id: PROJECT.id, offset_ms: 90 * MINUTE, modified: new Date(NOW) };
  await database.db('sandbox_clocks').insert(clock);
  // It has been watched for long, without an answer: the settlement is a new sign.
  const watched_before = { transaction_id: declined.transactions[0]!.id, poll_at: NOW + 120 * MINUTE, began: NOW };
  await insertWatch(database.db, watched_before.transaction_id, watched_before);
  const { settled, unpaid } = await recordAll([declined, open, paid].map(({ id }) => aSettlement(id)));
  expect(settled).toBe(3);
  expect(new Set(unpaid.map(({ order_id, status, is_payment }) => `${order_id} ${status} ${is_payment}`))).toEqual(
    new Set([`${declined.id} error true`, `${open.id} processing true`]),
  );
  const watched = await watchesOf(database.db, {
    sql: 'select unnest(:ids::uuid[])',
    bindings: { ids: [declined.id, open.id, paid.id] },
  });
  expect(watched).toEqual([
    { transaction_id: declined.transactions[0]!.id, poll_at: NOW + 90 * MINUTE, began: NOW + 90 * MINUTE, polls: 0 },
  ]);
});
