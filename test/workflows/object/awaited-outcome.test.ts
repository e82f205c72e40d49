import { WorkflowUpdateFailedError } from '@temporalio/client';
import { setChargeOutcome, setFollowUpOutcome } from '../../../activities/manual-outcome';
import { queryRow } from '../../../src/db/query';
import { findWatch } from '../../../src/db/orders/late-approvals';
import { findOrderSnapshot } from '../../../src/db/orders/order-snapshot';
import { followUpIdempotencyKey } from '../../../src/domain/follow-up';
import type { ManualOutcome } from '../../../src/domain/outcome';
import { POLLS_BEFORE_ATTENTION, chargeIdempotencyKey } from '../../../src/domain/transaction';
import { createWorkflowClients } from '../../../src/temporal/workflows';
import { ATTENTION, orderWorkflowId, pollNowUpdate, setOutcomeUpdate } from '../../../workflows/messages';
import { CARDS, MINUTE, transactionIdOf, type CardName } from '../../support/domain';
import { Merchant } from '../../support/merchant';
import { setUp } from '../../support/set-up';
import { NOBODY } from '../../support/shapes';
import { createWorkflowEnvironment } from '../../support/temporal';
import { sleepUntil, until } from '../../support/waits';
import {
  becomesDue,
  createAnOrder,
  startFollowUp,
  followUpOf,
  moneySummaryOf,
  statusesOfRow,
  statusesOfOrder,
  type TestOrder,
} from '../../support/workflow-orders';

/** Rules 10.14: what an operator can do in the Web UI about an outcome that the processor does not give. */
const world = setUp(() => createWorkflowEnvironment());
const merchant = new Merchant();
afterEach(() => merchant.removeFaults());

const REASON = 'Bank statement of 15 January, ticket 42';
const handleOf = (order_id: string) => world.env.client.workflow.getHandle(orderWorkflowId(order_id));
const manualOutcomeOf = (order_id: string, outcome: ManualOutcome['outcome']) => ({
  transaction_id: transactionIdOf(order_id, 1),
  outcome,
  reason: REASON,
  operator: 'Ada',
});
const setOutcome = (order_id: string, outcome: ManualOutcome['outcome'], reason = REASON) =>
  handleOf(order_id).executeUpdate(setOutcomeUpdate, {
    args: [{ ...manualOutcomeOf(order_id, outcome), reason }],
  });
const refusalOf = (error: unknown) =>
  error instanceof WorkflowUpdateFailedError ? (error.cause as { type?: string }).type : String(error);
const attentionOf = async (order_id: string) =>
  (await handleOf(order_id).describe()).typedSearchAttributes.get(ATTENTION);
const isClosed = (order_id: string) =>
  until('its workflow is closed', async () => (await handleOf(order_id).describe()).status.name === 'COMPLETED');

/** A charge whose outcome the processor does not know yet. */
async function awaited(card: CardName, over: Parameters<typeof createAnOrder>[1] = {}): Promise<TestOrder> {
  const order = await createAnOrder(world, { card_number: CARDS[card].number, ...over });
  expect(await statusesOfOrder(order)).toBe('processing: processing');
  return order;
}

/** A refund of 300 whose outcome the processor does not know yet. */
async function awaitedRefund(): Promise<{ order: TestOrder; refund_id: string }> {
  const order = await createAnOrder(world, { card_number: CARDS.refund_processing.number });
  const refund = followUpOf(order.id, 'refund', { amount: 300 });
  await startFollowUp(world, refund);
  expect(await moneySummaryOf(order)).toBe('500 captured, 300 refund_pending: refund processing');
  return { order, refund_id: refund.id };
}

/** The processor's outcome is there, and its notification arrives. */
async function isNotified(order: TestOrder, refund_id?: string): Promise<void> {
  await becomesDue(order);
  const transaction_id = transactionIdOf(order.id, 1);
  const idempotency_key = refund_id
    ? followUpIdempotencyKey(transaction_id, 'refund', refund_id)
    : chargeIdempotencyKey(transaction_id);
  await createWorkflowClients({ client: world.env.client, db: world.database.db }).processor_notifications.handle(
    {
      operation: refund_id ? 'refund' : 'sale',
      idempotency_key,
      order_id: order.id,
      transaction_id,
      ...(refund_id && { follow_up_order_id: refund_id }),
    },
    Date.now() + 10_000,
  );
}

/** The newest event of the order's payment as it is recorded; no answer has its reason. */
async function lastEventOf(order: TestOrder): Promise<Record<string, unknown> | undefined> {
  const events = 'select * from transaction_events where transaction_id = :id order by n desc limit 1';
  return await queryRow<Record<string, unknown>>(world.database.db, events, {
    id: transactionIdOf(order.id, 1),
  });
}

describe('rules 10.14: setOutcome of a payment', () => {
  test('approved, of an authorization: its capture window opens', async () => {
    const order = await awaited('processing_approved', { capture_mode: 'manual' });
    const set_at = await world.now();
    await setOutcome(order.id, 'approved');
    expect([await statusesOfOrder(order), await moneySummaryOf(order)]).toEqual(['completed: accepted', 'nothing']);
    const capture_ends_at = Date.parse((await order.view()).transactions[0]!.capture_ends_at ?? '');
    expect(capture_ends_at).toBeGreaterThanOrEqual(set_at + 60 * MINUTE);
  });

  test('a contradiction of an approval needs attention; an agreement does not', async () => {
    const [right, wrong] = [await awaited('processing_approved'), await awaited('processing_declined')];
    for (const order of [right, wrong]) {
      await setOutcome(order.id, 'approved');
      await isClosed(order.id);
      await isNotified(order);
      await isClosed(order.id);
    }
    expect([await attentionOf(right.id), await attentionOf(wrong.id)]).toEqual([
      undefined,
      'set by hand as approved, but the processor says declined',
    ]);
    expect((await findOrderSnapshot(world.database.db, wrong.id))?.attention).toContain('says declined');
    expect(await statusesOfOrder(wrong)).toBe('completed: accepted');
  });

  test('approved, of which a workflow from an older copy of Temporal knows nothing: a contradiction needs attention', async () => {
    const order = await awaited('processing_declined');
    const { database, now } = world;
    const { payment_links } = createWorkflowClients({ client: world.env.client, db: database.db });
    await setChargeOutcome(
      { db: database.db, workflows: { payment_links } },
      { order_id: order.id, manual_outcome: manualOutcomeOf(order.id, 'approved'), now: await now() },
    );
    await isNotified(order);
    await isClosed(order.id);
    expect(await attentionOf(order.id)).toBe('set by hand as approved, but the processor says declined');
    expect(await statusesOfOrder(order)).toBe('completed: accepted');
  });

  test.each<[string, (order: TestOrder) => Promise<unknown>]>([
    ['voided', (order) => order.follow('void')],
    ['released at the end of its window', () => world.env.sleep(61 * MINUTE)],
  ])('approved, of an authorization that is %s before the processor answers: it is polled on', async (_how, end) => {
    const order = await awaited('processing_approved', { capture_mode: 'manual' });
    const transaction_id = transactionIdOf(order.id, 1);
    const { db } = world.database;
    await setOutcome(order.id, 'approved');
    const key = chargeIdempotencyKey(transaction_id);
    await merchant.addFault({ kind: 'outage', operation: 'ask', idempotency_key: key });
    await isNotified(order);
    const watch = await until('it is to be polled again', () => findWatch(db, transaction_id));
    await end(order);
    await isClosed(order.id);
    expect(await statusesOfOrder(order)).toMatch(/^completed: (cancelled|expired)$/);
    const { follow_ups } = createWorkflowClients({ client: world.env.client, db });
    const poll = async () => {
      await follow_ups.resumeWatch({ transaction_id });
      await isClosed(order.id);
      return await findWatch(db, transaction_id);
    };
    await sleepUntil(world, watch.poll_at);
    expect(await poll()).toMatchObject({ polls: 1 });
    await merchant.removeFaults();
    expect(await poll()).toBeUndefined();
    expect((await findOrderSnapshot(db, order.id))?.attention).toBeUndefined();
  });

  test('declined, and then the processor approved it: given back by a reversal order', async () => {
    const order = await awaited('processing_approved');
    await setOutcome(order.id, 'declined');
    expect(await statusesOfOrder(order)).toBe('error: error');
    await isClosed(order.id);
    await isNotified(order);
    await until('it is given back', async () => (await moneySummaryOf(order)) === 'nothing: reversal completed');
    expect(await statusesOfOrder(order)).toBe('error: error');
  });

  test('the processor is polled first: the outcome that it gives is recorded, not the one set', async () => {
    const order = await awaited('processing_declined');
    await becomesDue(order);
    await expect(setOutcome(order.id, 'approved').catch(refusalOf)).resolves.toBe('Conflict');
    expect(await statusesOfOrder(order)).toBe('error: error');
    expect(await lastEventOf(order)).toMatchObject({ source: 'processor', reason: null });
  });

  test('declined, of a customer in 3-D Secure about whom the processor says nothing: once the time for paying is over', async () => {
    const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
    const { expires_at } = (await order.view()).transactions[0]!;
    const idempotency_key = chargeIdempotencyKey(transactionIdOf(order.id, 1));
    await merchant.addFault({ kind: 'outage', operation: 'ask', idempotency_key, times: 1_000 });
    await expect(setOutcome(order.id, 'declined').catch(refusalOf)).resolves.toBe('Conflict');
    await sleepUntil(world, Date.parse(expires_at!) + MINUTE);
    expect(await statusesOfOrder(order)).toBe('processing: pending');
    await setOutcome(order.id, 'declined');
    expect(await statusesOfOrder(order)).toBe('expired: error');
    await merchant.removeFaults();
  });

  test('refused for another transaction than the one whose outcome is awaited', async () => {
    const order = await awaited('processing_approved');
    const input = { ...manualOutcomeOf(order.id, 'declined'), transaction_id: NOBODY };
    const update = handleOf(order.id).executeUpdate(setOutcomeUpdate, { args: [input] });
    await expect(update.catch(refusalOf)).resolves.toBe('Conflict');
    expect(await statusesOfOrder(order)).toBe('processing: processing');
    await setOutcome(order.id, 'declined');
  });
});

describe('rules 10.14: setOutcome of a follow-up order', () => {
  test('refused for another transaction than its own', async () => {
    const { order, refund_id } = await awaitedRefund();
    const input = manualOutcomeOf(order.id, 'approved');
    const update = handleOf(refund_id).executeUpdate(setOutcomeUpdate, { args: [input] });
    await expect(update.catch(refusalOf)).resolves.toBe('Conflict');
    expect(await moneySummaryOf(order)).toBe('500 captured, 300 refund_pending: refund processing');
    await setOutcome(refund_id, 'declined');
  });

  test('declined: the amount is free again; an approval that comes later needs attention, and moves nothing', async () => {
    const { order, refund_id } = await awaitedRefund();
    await setOutcome(refund_id, 'declined');
    expect([await statusesOfRow(world, refund_id), await moneySummaryOf(order)]).toEqual([
      'error: error',
      '500 captured: refund error',
    ]);
    await isClosed(refund_id);
    await isNotified(order, refund_id);
    await until('it needs attention', async () => (await attentionOf(refund_id)) !== undefined);
    expect(await attentionOf(refund_id)).toBe('set by hand as declined, but the processor says approved');
    expect(await moneySummaryOf(order)).toBe('500 captured: refund error');
  });
});

test('rules 10.14: the outcome of a refund, of which a workflow from an older copy of Temporal knows nothing: a contradiction needs attention', async () => {
  const { order, refund_id } = await awaitedRefund();
  const { database, now } = world;
  const { orders } = createWorkflowClients({ client: world.env.client, db: database.db });
  await setFollowUpOutcome(
    { db: database.db, workflows: { orders } },
    {
      ...followUpOf(order.id, 'refund', { id: refund_id, amount: 300 }),
      manual_outcome: manualOutcomeOf(refund_id, 'declined'),
      now: await now(),
    },
  );
  await isNotified(order, refund_id);
  await until('it needs attention', async () => (await attentionOf(refund_id)) !== undefined);
  expect(await attentionOf(refund_id)).toBe('set by hand as declined, but the processor says approved');
  expect(await moneySummaryOf(order)).toBe('500 captured: refund error');
});

describe('rules 10.15: pollNow', () => {
  test('of a payment: the outcome is recorded at once, instead of by schedule', async () => {
    const order = await awaited('processing_approved');
    expect(await order.handle.executeUpdate(pollNowUpdate)).toMatch(/^Asks the processor again, at .*Z\.$/);
    await becomesDue(order);
    expect(await order.handle.executeUpdate(pollNowUpdate)).toBe('Nothing is awaited: completed is final.');
    expect(await statusesOfOrder(order)).toBe('completed: accepted');
  });

  test('of a follow-up order', async () => {
    const { order, refund_id } = await awaitedRefund();
    await becomesDue(order);
    expect(await handleOf(refund_id).executeUpdate(pollNowUpdate)).toBe('Nothing is awaited: completed is final.');
    expect(await moneySummaryOf(order)).toBe('500 captured, 300 refunded: refund completed');
  });

  test('of an order that waits to be paid: nothing happens', async () => {
    const order = await createAnOrder(world);
    expect(await order.handle.executeUpdate(pollNowUpdate)).toMatch(/^Expires, unless the customer pays, at /);
    await order.cancel();
  });
});

test('rules 10.3: an outcome that is missing for a day needs attention, also when its workflow was lost, until it is known', async () => {
  const order = await createAnOrder(world, { card_number: CARDS.approved.number });
  const refund = followUpOf(order.id, 'refund', { amount: 300 });
  await merchant.addFault({ kind: 'outage', operation: 'refund', order_id: order.id });
  const key = followUpIdempotencyKey(transactionIdOf(order.id, 1), 'refund', refund.id);
  await merchant.addFault({ kind: 'outage', operation: 'ask', idempotency_key: key });
  await startFollowUp(world, refund);
  // After a day of polls, each of which was in vain, its workflow is lost.
  const polls = POLLS_BEFORE_ATTENTION - 1;
  await world.database.db('transactions').where({ order_id: refund.id }).update({ polls, polled_at: new Date() });
  await handleOf(refund.id).terminate('lost');
  await startFollowUp(world, refund);
  expect(await attentionOf(refund.id)).toBeUndefined();
  await handleOf(refund.id).executeUpdate(pollNowUpdate);
  expect(await attentionOf(refund.id)).toBe('the processor has given no outcome for about a day');
  await merchant.removeFaults();
  await handleOf(refund.id).executeUpdate(pollNowUpdate);
  expect(await statusesOfRow(world, refund.id)).toBe('completed: accepted');
  expect(await attentionOf(refund.id)).toBeUndefined();
}, 120_000);
