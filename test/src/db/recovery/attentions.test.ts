import {
  countOpenAttentions,
  endLostRecords,
  listAttentions,
  recordAttention,
  type AttentionObject,
} from '../../../../src/db/recovery/attentions';
import { loadOrderSnapshot } from '../../../../src/db/orders/order-snapshot';
import { endAttention, addAttention } from '../../../../src/db/orders/update-order';
import { recordAttempt } from '../../../../src/db/webhooks/deliveries';
import { createTestDatabase } from '../../../support/database';
import { NOW, PROJECT } from '../../../support/domain';
import { aDelivery, aStoredOrder } from '../../../support/rows';
import { setUp } from '../../../support/set-up';
import { NOBODY } from '../../../support/shapes';

const database = setUp(() => createTestDatabase());

const rowsOf = async (kind: AttentionObject['kind'], id: string) =>
  (await listAttentions(database.db, { status: 'all' }, { limit: 100 })).items
    .filter((row) => row.object_kind === kind && row.object_id === id)
    .map(({ reason, until }) => [reason, until === null ? 'open' : 'ended']);

test('rules 24.19: a reason opens a row once, another one ends it and opens its own, none ends all', async () => {
  const index = { kind: 'search_index', id: 'x' } as const;
  for (const reason of ['a', 'a', 'b', 'b', undefined, undefined, 'a']) {
    await recordAttention(database.db, index, reason);
  }
  expect(await rowsOf('search_index', 'x')).toEqual([
    ['a', 'open'],
    ['b', 'ended'],
    ['a', 'ended'],
  ]);
});

test('rules 24.19: the attention of an order is written with the order, and a further reason ends none', async () => {
  const order = await aStoredOrder(database.db);
  for (const reason of ['first', 'first', 'second', 'first']) await addAttention(database.db, order.id, reason);
  const attention = async () => (await loadOrderSnapshot(database.db, order.id)).attention;
  expect(await attention()).toBe('first; second');
  expect(await rowsOf('order', order.id)).toEqual([
    ['first; second', 'open'],
    ['first', 'ended'],
  ]);
  for (const reason of ['first', 'third']) await endAttention(database.db, order.id, reason);
  expect(await attention()).toBe('second');
  const { items } = await listAttentions(database.db, { status: 'open' }, { limit: 100 });
  expect(items.find(({ object_id }) => object_id === order.id)).toMatchObject({
    reason: 'second',
    project_id: PROJECT.id,
    until: null,
  });
});

test('rules 24.19: a webhook needs attention from its last attempt on, in the same statement', async () => {
  const id = await aDelivery(database.db);
  const attempt = { attempt: 9, time_limit_ms: 1, started: NOW, duration_ms: 1, status_code: 500, failure: 'x' };
  await recordAttempt(database.db, id, attempt, { status: 'new', next_attempt_at: NOW + 1 });
  expect(await rowsOf('webhook', `${id.order_id}-1`)).toEqual([]);
  database.forget();
  const last = () => recordAttempt(database.db, id, { ...attempt, attempt: 10 }, { status: 'failed' });
  expect([await last(), await last(), database.statements.length]).toEqual([true, false, 2]);
  expect(await rowsOf('webhook', `${id.order_id}-1`)).toEqual([['webhook failed 10 times', 'open']]);
  expect(await countOpenAttentions(database.db)).toContainEqual({ kind: 'webhook', count: 1 });
});

test('rules 24.19: a lost record needs attention until it is written again, with its webhooks', async () => {
  const { id } = await aStoredOrder(database.db);
  const other = await aStoredOrder(database.db);
  const [back, lost] = [
    [`order:${id}`, `webhook:${id}:1`],
    [`order:${NOBODY}`, `link:${NOBODY}`, `order:${other.id}`, 'settlements'],
  ];
  for (const workflow of [...back, ...lost]) {
    await recordAttention(database.db, { kind: 'workflow', id: workflow }, 'the record does not exist any more');
  }
  await endLostRecords(database.db, [id, NOBODY]);
  const { items } = await listAttentions(database.db, { status: 'open' }, { limit: 100 });
  expect(items.filter(({ object_kind }) => object_kind === 'workflow').map(({ object_id }) => object_id)).toEqual(
    lost.toReversed(),
  );
});
