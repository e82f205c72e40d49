import { v5 as uuidv5, v7 as uuidv7 } from 'uuid';
import { followUpActivities } from '../../activities/follow-ups';
import { processorActivities } from '../../activities/processor';
import { findOrderView } from '../../src/db/order-view';
import { moveOrder } from '../../src/db/orders';
import type { OrderRecord } from '../../src/domain/move';
import { createProcessor, type Processor } from '../../src/processor/client';
import { CARDS } from '../support/cards';
import { PROJECT, aDatabase, type TestDatabase } from '../support/database';
import { MINUTE, transactionIdOf } from '../support/orders';
import { stack } from '../support/stack';

const NOW = Date.UTC(2026, 0, 15, 12);

let database: TestDatabase;
let processor: Processor;
/** Nothing listens there: every call stays without an answer. */
let nobody: Processor;
beforeAll(async () => {
  database = await aDatabase();
  processor = createProcessor({ url: stack().simulator_url, key: stack().processor_key, timeout_ms: 2_000 });
  nobody = createProcessor({ url: 'http://127.0.0.1:9', key: 'k', timeout_ms: 200 });
});
afterAll(async () => {
  await Promise.all([processor.close(), nobody.close(), database.close()]);
});

/** Approved at the processor while the record says cancelled: what a late approval leaves. */
async function approvedTooLate(): Promise<OrderRecord> {
  const id = uuidv7();
  const card = await processor.vaultCard({ project_id: PROJECT.id, is_test: true, number: CARDS.challenge.number, card_expiry: '122034', security_code: '123' });
  const vault_token = card.usable ? card.vault_token : '';
  const pending = await processorActivities({ db: database.db, processor, public_url: 'http://pay.test' }).createAndCharge({
    order: { id, project_id: PROJECT.id, currency: 'EUR', amount: 700, attempts_max: 1, expiration_period: 'PT30M', description: 'Two books' },
    transaction: { id: transactionIdOf(id, 1), attempt: 1, payment_method: 'credit-card', payment_method_details: { vault_token }, expiration_period: 'PT30M', period: 30 * MINUTE },
    period: 30 * MINUTE,
    is_test: true,
    charge: true,
    now: NOW,
  });
  const cancelled = await moveOrder(database.db, pending, { ended: 'cancelled' }, { source: 'merchant', now: NOW });
  const challenge_url = (await findOrderView(database.db, id))!.transactions[0]?.challenge_url ?? '';
  await fetch(challenge_url, { method: 'POST', body: new URLSearchParams({ code: '0101' }), redirect: 'manual' });
  return cancelled;
}

test('written and carried out once, however often both are repeated', async () => {
  const { order_id, version } = await approvedTooLate();
  const activities = followUpActivities({ db: database.db, processor });
  const transaction_id = transactionIdOf(order_id, 1);
  const [first, second] = [await activities.recordReversal({ transaction_id, now: NOW }), await activities.recordReversal({ transaction_id, now: NOW + 1 })];
  expect(second).toEqual(first);
  expect(first).toMatchObject({ order_id: uuidv5('reversal', transaction_id), status: 'new', amount: 700, currency: 'EUR' });
  const done = await activities.reverse({ order: first!, original_transaction_id: transaction_id, now: NOW });
  expect(await activities.reverse({ order: first!, original_transaction_id: transaction_id, now: NOW })).toEqual(done);
  expect(done).toMatchObject({ status: 'completed' });
  const original = (await findOrderView(database.db, order_id))!;
  expect(original.follow_ups).toEqual([{ id: first!.order_id, kind: 'reversal', status: 'completed' }]);
  // Its ETag changes with what it shows: once when the reversal is there, once when it is completed.
  expect(original.version).toBe(version + 2);
  expect((await findOrderView(database.db, first!.order_id))!.description).toBe('Two books');
});

test('while the processor does not say whether it was approved nothing is written, and it is asked again', async () => {
  const { order_id } = await approvedTooLate();
  const silent = followUpActivities({ db: database.db, processor: nobody });
  await expect(silent.recordReversal({ transaction_id: transactionIdOf(order_id, 1), now: NOW })).rejects.toThrow('does not answer');
  expect((await findOrderView(database.db, order_id))!.follow_ups).toEqual([]);
});

test('an answer that is lost leaves the reversal processing, never error', async () => {
  const { order_id } = await approvedTooLate();
  const transaction_id = transactionIdOf(order_id, 1);
  const recorded = await followUpActivities({ db: database.db, processor }).recordReversal({ transaction_id, now: NOW });
  const unknown = await followUpActivities({ db: database.db, processor: nobody }).reverse({ order: recorded!, original_transaction_id: transaction_id, now: NOW });
  expect(unknown).toMatchObject({ status: 'processing' });
  const known = await followUpActivities({ db: database.db, processor }).reverse({ order: unknown, original_transaction_id: transaction_id, now: NOW });
  expect(known).toMatchObject({ status: 'completed' });
});
