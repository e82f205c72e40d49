import { listAttentions, recordAttention } from '../../../src/db/recovery/attentions';
import { withDatabase } from '../../../src/db/connection';
import { findOrderSnapshot } from '../../../src/db/orders/order-snapshot';
import { addAttention } from '../../../src/db/orders/update-order';
import { reconcileAttentions } from '../../../src/recovery/attentions';
import { ATTENTION, orderWorkflowId, recordChanged } from '../../../workflows/messages';
import { answerOfAdmin } from '../../support/admin';
import { createTestDatabase } from '../../support/database';
import { NOW } from '../../support/domain';
import { Merchant } from '../../support/merchant';
import { aStoredOrder } from '../../support/rows';
import { setUp } from '../../support/set-up';
import { NOBODY } from '../../support/shapes';
import { stack } from '../../support/stack';
import { temporalOf } from '../../support/temporal-client';
import { until } from '../../support/waits';

/** `npm run admin -- attention close` (rules 22.8). */

const database = setUp(() => createTestDatabase());
const REASON = 'The processor has freed the money, ticket 42';

const admin = (...args: string[]) => answerOfAdmin(args, { env: { POSTGRES_URL: database.url } });
const close = (kind: string, id: string, reason = REASON) => admin('attention', 'close', kind, id, '--reason', reason);
const open = async () =>
  (await listAttentions(database.db, { status: 'open' }, { limit: 100 })).items.map(({ object_id }) => object_id);

test('rules 22.8: the attention to an order, a webhook or a lost workflow is closed with a reason, in the record and the audit trail', async () => {
  const { id } = await aStoredOrder(database.db);
  await addAttention(database.db, id, 'the processor refused the void');
  const [webhook, workflow] = [`${id}-1`, orderWorkflowId(NOBODY)];
  await recordAttention(database.db, { kind: 'webhook', id: webhook }, 'webhook failed 10 times');
  await recordAttention(database.db, { kind: 'workflow', id: workflow }, 'the record does not exist any more');
  expect(await close('order', id)).toMatchObject({
    object: { kind: 'order', id },
    reason: 'the processor refused the void',
    until: expect.any(String) as unknown,
  });
  await close('webhook', webhook);
  await close('workflow', workflow);
  await reconcileAttentions(database.db, NOW);
  expect(await open()).toEqual([]);
  expect(await findOrderSnapshot(database.db, id)).not.toHaveProperty('attention');
  const { items } = await answerOfAdmin<{ items: object[] }>(['audit', 'list', '--object', id], {
    env: { POSTGRES_URL: database.url },
  });
  expect(items).toMatchObject([
    {
      action: 'attention.close',
      actor: { kind: 'command_line' },
      object: { kind: 'order', id },
      before: { reason: 'the processor refused the void' },
      after: { reason: REASON },
    },
  ]);
  expect(await close('order', id)).toMatchObject({ error: 'Conflict' });
  expect(await close('webhook', webhook)).toMatchObject({ error: 'Conflict' });
});

test('rules 22.8: an outcome that is overdue cannot be closed: it needs attention until it is known', async () => {
  const { id, transactions } = await aStoredOrder(database.db);
  const overdue = { status: 'processing', polls: 170, polled_at: new Date(NOW) };
  await database.db('transactions').where({ id: transactions[0]!.id }).update(overdue);
  await reconcileAttentions(database.db, NOW);
  expect(await close('order', id)).toMatchObject({
    error: 'Conflict',
    value: expect.stringContaining('an overdue outcome') as unknown,
  });
  expect(await open()).toEqual([id]);
});

test.each([
  ['another kind', ['settlements', 'settlements', '--reason', REASON], /^kind: /],
  ['no reason', ['order', NOBODY], /^reason: /],
  ['a card number as reason', ['order', NOBODY, '--reason', 'of 4111 1111 1111 1111'], /^reason: A card number/],
])('rules 22.8: refused: %s', async (_title, args, says) => {
  expect(await admin('attention', 'close', ...args)).toEqual({
    error: 'ValidationError',
    value: expect.stringMatching(says) as unknown,
  });
});

describe('an order whose workflow runs', () => {
  const temporal = setUp(
    () => temporalOf(),
    (client) => client.connection.close(),
  );

  test('rules 22.8: the search attribute Attention disappears', async () => {
    const { id } = await new Merchant().createOrder();
    const handle = temporal.workflow.getHandle(orderWorkflowId(id));
    const shown = async () => (await handle.describe()).typedSearchAttributes.get(ATTENTION);
    await withDatabase(stack().postgres_url, (record) => addAttention(record, id, 'look here'));
    await handle.signal(recordChanged);
    await until('it is shown', async () => (await shown()) === 'look here');
    await answerOfAdmin(['attention', 'close', 'order', id, '--reason', REASON]);
    await until('it is not shown any more', async () => (await shown()) === undefined);
  });
});
