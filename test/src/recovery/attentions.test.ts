import { randomUUID } from 'node:crypto';
import { countOpenAttentions, listAttentions, recordAttention } from '../../../src/db/recovery/attentions';
import { queryRows } from '../../../src/db/query';
import { announceOperation } from '../../../src/db/orders/announced-operations';
import { addAttention } from '../../../src/db/orders/update-order';
import { recordAttempt } from '../../../src/db/webhooks/deliveries';
import { insertRedelivery } from '../../../src/db/webhooks/stored-deliveries';
import { reconcileAttentions } from '../../../src/recovery/attentions';
import { createTestDatabase } from '../../support/database';
import { NOW } from '../../support/domain';
import { aDelivery, aStoredOrder, writeOrders } from '../../support/rows';
import { setUp } from '../../support/set-up';
import { NOBODY } from '../../support/shapes';

const database = setUp(() => createTestDatabase());
const DAY_MS = 24 * 60 * 60_000;

const open = async () =>
  (await listAttentions(database.db, { status: 'open' }, { limit: 100 })).items.map(({ object_id, reason }) => [
    object_id,
    reason,
  ]);
const reconcile = () => reconcileAttentions(database.db, NOW + 2 * DAY_MS);

test('rules 24.19: an outcome that is overdue needs attention until it is known, whether or not its workflow runs', async () => {
  const { id, transactions } = await aStoredOrder(database.db);
  const transaction = () => database.db('transactions').where({ id: transactions[0]!.id });
  await transaction().update({ status: 'processing', polls: 169, polled_at: new Date(NOW) });
  await reconcile();
  expect(await open()).toEqual([]);
  await transaction().update({ polls: 170 });
  await reconcile();
  await reconcile();
  expect(await open()).toEqual([[id, 'the processor has given no outcome for about a day']]);
  await transaction().update({ answered_amount: 40, answered_currency: 'USD' });
  await reconcile();
  expect(await open()).toEqual([[id, expect.stringContaining('40 USD')]]);
  await transaction().update({ status: 'error' });
  await reconcile();
  expect(await open()).toEqual([]);
});

test('rules 10.3: a customer who is long at the issuer needs no attention; a silent processor after the end of that time does', async () => {
  const { id, transactions, expires_at } = await aStoredOrder(database.db);
  const transaction = () => database.db('transactions').where({ id: transactions[0]!.id });
  await transaction().update({ status: 'pending', polls: 170, polled_at: new Date(NOW), poll_at: new Date(NOW) });
  database.forget();
  await reconcile();
  expect([await open(), database.statements.some((sql) => sql.includes(' from orders o '))]).toEqual([[], false]);
  await transaction().update({ poll_at: new Date(expires_at) });
  await reconcile();
  expect(await open()).toEqual([[id, 'the processor has given no outcome for about a day']]);
  await transaction().update({ status: 'expired' });
  await reconcile();
});

test('rules 24.19: what the record says of an order is restored, and stays', async () => {
  const { id } = await aStoredOrder(database.db);
  await addAttention(database.db, id, 'look here');
  await queryRows(database.db, 'delete from attentions where object_id = :id', { id });
  await reconcile();
  await reconcile();
  expect(await open()).toEqual([[id, 'look here']]);
  await queryRows(database.db, 'delete from attentions where object_id = :id', { id });
  await queryRows(database.db, 'update orders set attention = null where id = :id', { id });
});

test('rules 24.19: a late approval without an answer for a day needs attention until its watch ends', async () => {
  const { id, transactions } = await aStoredOrder(database.db);
  const transaction_id = transactions[0]!.id;
  const watch = { transaction_id, poll_at: new Date(NOW), began: new Date(NOW + DAY_MS + 1) };
  await database.db('late_approval_watches').insert(watch);
  await reconcile();
  expect(await open()).toEqual([]);
  await database.db('late_approval_watches').update({ began: new Date(NOW + DAY_MS) });
  await reconcile();
  expect(await open()).toEqual([[id, 'the processor has given no answer about a late approval for a day']]);
  await database.db('late_approval_watches').delete();
  await reconcile();
  expect(await open()).toEqual([]);
});

test('rules 24.19: an announced operation without an answer for a day needs attention until there is one', async () => {
  const { id, transactions } = await aStoredOrder(database.db);
  await announceOperation(
    database.db,
    {
      order_id: randomUUID(),
      kind: 'chargeback',
      processor_key: 'k',
      original_order_id: id,
      original_transaction_id: transactions[0]!.id,
    },
    NOW + DAY_MS + 1,
  );
  await reconcile();
  expect(await open()).toEqual([]);
  await database.db('announced_operations').update({ announced: new Date(NOW + DAY_MS) });
  await reconcile();
  expect(await open()).toEqual([
    [id, 'the processor has given no answer for a day about an operation that it announced'],
  ]);
  const watch = { transaction_id: transactions[0]!.id, poll_at: new Date(NOW), began: new Date(NOW + DAY_MS) };
  await database.db('late_approval_watches').insert(watch);
  await reconcile();
  const late = 'the processor has given no answer about a late approval for a day';
  expect(await open()).toEqual([
    [id, `${late}; the processor has given no answer for a day about an operation that it announced`],
  ]);
  for (const table of ['announced_operations', 'late_approval_watches']) await database.db(table).delete();
  await reconcile();
  expect(await open()).toEqual([]);
});

test('rules 24.19: a failed webhook needs no attention once a later event of its order is delivered', async () => {
  const first = await aDelivery(database.db);
  const attempt = { attempt: 10, time_limit_ms: 1, started: NOW, duration_ms: 1, status_code: 500 };
  await recordAttempt(database.db, first, attempt, { status: 'failed' });
  const { order_id } = first;
  await database.db.raw(
    `insert into webhook_deliveries (order_id, n, url, next_attempt_at, created)
     select order_id, 2, url, created, created from webhook_deliveries where order_id = :order_id`,
    { order_id },
  );
  await reconcile();
  expect(await open()).toHaveLength(1);
  const received = { ...attempt, attempt: 1, status_code: 200 };
  await recordAttempt(database.db, { order_id, n: 2 }, received, { status: 'delivered' });
  await reconcile();
  expect(await open()).toEqual([]);
});

test('rules 24.19: a failed webhook needs attention until a redelivery of its event is delivered', async () => {
  const first = await aDelivery(database.db);
  const attempt = { attempt: 10, time_limit_ms: 1, started: NOW, duration_ms: 1, status_code: 500 };
  await recordAttempt(database.db, first, attempt, { status: 'failed' });
  const again = await database.db.transaction((trx) =>
    insertRedelivery(trx, first, { now: new Date(NOW), request_id: randomUUID() }),
  );
  await reconcile();
  expect(await open()).toHaveLength(1);
  await recordAttempt(database.db, again, { ...attempt, attempt: 1, status_code: 200 }, { status: 'delivered' });
  await reconcile();
  expect(await open()).toEqual([]);
});

test('rules 29.8: a redelivery of a webhook that was removed with its month is NotFound', async () => {
  const redelivery = database.db.transaction((trx) =>
    insertRedelivery(trx, { order_id: NOBODY, n: 1 }, { now: new Date(NOW), request_id: randomUUID() }),
  );
  await expect(redelivery).rejects.toMatchObject({ error: 'NotFound' });
});

test('rules 24.19: an order that does not exist any more needs no attention', async () => {
  await recordAttention(database.db, { kind: 'order', id: NOBODY }, 'look here');
  await reconcile();
  expect(await open()).toEqual([]);
});

test('rules 24.19: every outcome that is overdue needs attention, however many there are, and a round writes only changes', async () => {
  const { db } = database;
  const overdue = { status: 'processing', transactions: [{ status: 'processing' }] };
  await writeOrders(
    db,
    Array.from({ length: 1_100 }, () => overdue),
  );
  await db('transactions')
    .where({ status: 'processing' })
    .update({ polls: 170, polled_at: new Date(NOW) });
  await reconcile();
  expect(await countOpenAttentions(db)).toEqual([{ kind: 'order', count: 1_100 }]);
  database.forget();
  await reconcile();
  expect(database.statements.length).toBeLessThan(10);
  await db('transactions').where({ status: 'processing' }).update({ status: 'error' });
  await reconcile();
  expect(await open()).toEqual([]);
});

test('rules 24.19: of however many failed webhooks, the next ten thousand are looked at in each round', async () => {
  const first = await aDelivery(database.db);
  await recordAttention(database.db, { kind: 'webhook', id: `${first.order_id}-1` }, 'webhook failed 10 times');
  await queryRows(database.db, `update webhook_deliveries set status = 'delivered', next_attempt_at = null`);
  // Their ids come before that of the order.
  await queryRows(
    database.db,
    `insert into attentions (object_kind, object_id, reason)
     select 'webhook', '00000000-0000-7000-8000-' || lpad(n::text, 12, '0') || '-1', 'webhook failed 10 times'
     from generate_series(1, 10000) n`,
  );
  const isOpen = async () =>
    (
      await queryRows(database.db, 'select 1 from attentions where object_id = :id and until is null', {
        id: `${first.order_id}-1`,
      })
    ).length > 0;
  const next = await reconcileAttentions(database.db, NOW);
  expect([next, await isOpen()]).toEqual(['00000000-0000-7000-8000-000000010000-1', true]);
  expect([await reconcileAttentions(database.db, NOW, next), await isOpen()]).toEqual(['', false]);
  await queryRows(database.db, 'delete from attentions');
});
