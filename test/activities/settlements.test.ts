import { MockActivityEnvironment } from '@temporalio/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import type { ActivityServices } from '../../activities/services';
import { createActivities } from '../../activities';
import type { SettlementFetch } from '../../activities/settlements';
import { queryColumn, queryRows } from '../../src/db/query';
import { processorOrderId } from '../../src/ids';
import type { Processor } from '../../src/processor/client';
import type { Settlement } from '../../src/processor/wire';
import { beginRestore, recordReconciliation } from '../../src/db/backups/restores';
import { findFigures } from '../../src/db/metrics/figures';
import { moveOrder } from '../../src/db/orders/move-order';
import type { TransactionStatus } from '../../src/domain/transitions';
import { createTestDatabase } from '../support/database';
import { MINUTE, NOW, transactionIdOf } from '../support/domain';
import { aStoredOrder, writeOrders } from '../support/rows';
import { setUp } from '../support/set-up';
import { errorsOnly } from '../support/temporal';

const database = setUp(() => createTestDatabase());

/** What the processor has settled; its pages have two. `failures`: how many of its next answers are lost. */
const settled: Settlement[] = [];
let failures = 0;
const processor: Pick<Processor, 'settlements'> = {
  async settlements(after) {
    await sleep(5);
    if (failures-- > 0) throw new Error('no answer');
    return settled.filter(({ number }) => number > after).slice(0, 2);
  },
};

/** The transactions and orders that the processor is asked about. */
const asked: string[] = [];
const workflows = {
  orders: { requestPoll: async (id: string) => void asked.push(`order ${id}`) },
  follow_ups: {
    requestPoll: async (id: string) => void asked.push(`follow-up ${id}`),
    resumeWatch: async ({ transaction_id }: { transaction_id: string }) => void asked.push(transaction_id),
  },
  processor_notifications: { settled: async () => undefined },
} as unknown as ActivityServices['workflows'];

const fetchSettlements = (): Promise<SettlementFetch> =>
  // By a server that is ahead, so that no time passes.
  new MockActivityEnvironment({ scheduledTimestampMs: Date.now() + MINUTE }, { logger: errorsOnly }).run(
    createActivities({ db: database.db, processor, workflows } as unknown as ActivityServices).fetchSettlements,
    { now: NOW },
  );

/** A payment that the processor settles, and what follows it. */
function settle(
  order_id: string,
  of: Pick<Settlement, 'operation' | 'settlement_amount'> & Partial<Settlement> = {
    operation: 'sale',
    settlement_amount: 1_213,
    fee_currency: 'EUR',
    fee_amount: 37,
  },
): void {
  const transaction_id = transactionIdOf(order_id, 1);
  const number = (settled.at(-1)?.number ?? 0) + 10;
  settled.push({ number, idempotency_key: `k${number}`, order_id, transaction_id, settlement_currency: 'EUR', ...of });
}

const settlementOf = async (order_id: string) =>
  (
    await queryRows<{ settlement_amount: number | null; fee_amount: number | null }>(
      database.db,
      'select settlement_amount, fee_amount from transactions where order_id = :order_id',
      { order_id },
    )
  )[0];

it('each settlement is of the order that moved the money: the payment, a refund, a chargeback', async () => {
  const [id, refund] = [uuidv7(), uuidv7()];
  const chargeback = processorOrderId(transactionIdOf(id, 1), 'by the issuer');
  await writeOrders(database.db, [{ id }, { id: refund, kind: 'refund', related_order_id: id }]);
  settle(id);
  settle(id, { operation: 'refund', settlement_amount: 1_000, follow_up_order_id: refund });
  settle(id, { operation: 'chargeback', settlement_amount: 500, idempotency_key: 'by the issuer' });
  // The chargeback is not recorded yet.
  const { waiting_since, ...fetched } = await fetchSettlements();
  expect([fetched, waiting_since! >= NOW]).toEqual([{ settled: 2, waiting: 1 }, true]);
  await writeOrders(database.db, [{ id: chargeback, kind: 'chargeback', related_order_id: id }]);
  expect(await fetchSettlements()).toEqual({ settled: 1, waiting: 0 });
  expect(await fetchSettlements()).toEqual({ settled: 0, waiting: 0 });
  expect(await Promise.all([id, refund, chargeback].map(settlementOf))).toEqual([
    { settlement_amount: 1_213, fee_amount: 37 },
    { settlement_amount: 1_000, fee_amount: null },
    { settlement_amount: 500, fee_amount: null },
  ]);
});

it('rules 20.19: nothing is lost or recorded twice when answers are lost, or two fetch at once', async () => {
  const ids = await writeOrders(
    database.db,
    Array.from({ length: 5 }, () => ({})),
  );
  for (const id of ids) settle(id);
  failures = 2;
  await expect(fetchSettlements()).rejects.toThrow('no answer');
  const fetched = await Promise.all([
    fetchSettlements().catch(() => ({ settled: 0 })),
    fetchSettlements().catch(() => ({ settled: 0 })),
  ]);
  const rest = await fetchSettlements();
  expect(fetched[0].settled + fetched[1].settled + rest.settled).toBe(5);
  expect(rest.waiting).toBe(0);
  for (const id of ids) expect(await settlementOf(id)).toEqual({ settlement_amount: 1_213, fee_amount: 37 });
});

it('rules 4.15: each page is recorded with its own instant: a fetch after an outage may take most of an hour', async () => {
  const ids = [uuidv7(), uuidv7(), uuidv7()];
  for (const id of ids) settle(id);
  expect(await fetchSettlements()).toMatchObject({ settled: 0, waiting: 3 });
  const fetched = await queryColumn<string>(database.db, 'select fetched from open_settlements order by number');
  expect([fetched[1] === fetched[0], fetched[2]! > fetched[0]!]).toEqual([true, true]);
  await database.db('open_settlements').delete();
});

it('rules 10.18: settled although it was declined, or its outcome is open: the processor is asked', async () => {
  const unpaid = async (to: TransactionStatus) => {
    const order = await aStoredOrder(database.db);
    const { id: transaction_id } = order.transactions[0]!;
    await moveOrder(database.db, order, { transaction_id, to }, { source: 'processor', now: NOW });
    settle(order.id);
    return order.id;
  };
  const [declined, open] = [await unpaid('error'), await unpaid('processing')];
  expect((await fetchSettlements()).settled).toBe(2);
  expect(asked.toSorted()).toEqual([transactionIdOf(declined, 1), `order ${open}`].toSorted());
});

test('rules 20.19: how long ago the settlements were last fetched to the end counts on while fetches fail', async () => {
  const { db } = database;
  await queryRows(db, `update settlement_progress set fetched = now() - interval '3 hours'`);
  failures = 1;
  await expect(fetchSettlements()).rejects.toThrow('no answer');
  expect((await findFigures(db)).settlements_behind).toBeGreaterThanOrEqual(3 * 3_600);
  await fetchSettlements();
  expect((await findFigures(db)).settlements_behind).toBeLessThan(3_600);
});

test('rules 28.1: nothing is fetched until a restored record is reconciled', async () => {
  const { db } = database;
  const before = asked.length;
  const restore = { id: uuidv7() };
  await db.transaction((trx) => beginRestore(trx, restore.id, NOW, new Date()));
  await expect(fetchSettlements()).rejects.toThrow(/run restore reconcile first/);
  expect(asked).toHaveLength(before);
  await db.transaction((trx) => recordReconciliation(trx, restore, { rewritten: 0, open_items: [] }, new Date()));
  await fetchSettlements();
});
