import { createActivities } from '../../activities';
import type { ActivityServices } from '../../activities/services';
import { listChanges } from '../../src/db/projects/audit-trail';
import { findWatch, insertWatch } from '../../src/db/orders/late-approvals';
import { moveOrder } from '../../src/db/orders/move-order';
import { loadOrderSnapshot } from '../../src/db/orders/order-snapshot';
import { findStoredOrder } from '../../src/db/orders/stored-order';
import type { NewTransaction } from '../../src/domain/new-order';
import type { OrderSnapshot } from '../../src/domain/order-snapshot';
import { transactionId } from '../../src/ids';
import type { OperationOutcome } from '../../src/processor/client';
import { createTestDatabase } from '../support/database';
import { NOW, PROJECT } from '../support/domain';
import { aFollowUp, anAcceptedPayment, answerFollowUp, aStoredOrder } from '../support/rows';
import { setUp } from '../support/set-up';
import { NOBODY } from '../support/shapes';
import { insertFollowUp } from '../../src/db/orders/follow-ups';
import { addAttention } from '../../src/db/orders/update-order';

/** Each activity may have been killed anywhere and is run again. */
const database = setUp(() => createTestDatabase());

const activities = (outcome: OperationOutcome | 'not_found' = 'unknown') =>
  createActivities({
    db: database.db,
    processor: { findOperation: () => Promise.resolve(outcome) },
    workflows: { orders: { recordChanged: async () => {} } },
  } as unknown as ActivityServices);
const view = async (order_id: string) => (await findStoredOrder(database.db, order_id))!;
const { outcome, reason } = { outcome: 'approved', reason: 'Bank statement' } as const;
const manual_outcome = { transaction_id: NOBODY, outcome, reason, operator: 'Ada' };
/** The input that sets the outcome of this charge. */
const manualOutcomeOf = (
  { order_id, transaction_id }: { order_id: string; transaction_id: string },
  over: object = {},
) => ({
  order_id,
  manual_outcome: { ...manual_outcome, transaction_id, ...over },
});

async function awaited(
  transaction: Partial<NewTransaction> = {},
): Promise<{ order: OrderSnapshot; input: { order_id: string; transaction_id: string } }> {
  const order = await aStoredOrder(database.db, { transaction });
  const transaction_id = order.transactions[0]!.id;
  const by = { source: 'service', now: NOW } as const;
  return {
    order: await moveOrder(database.db, order, { transaction_id, to: 'processing' }, by),
    input: { order_id: order.id, transaction_id },
  };
}

const trailOf = async (transaction_id: string) =>
  (await listChanges(database.db, { object: transaction_id }, { limit: 10 })).items;

describe('setChargeOutcome', () => {
  test('an outcome that was recorded meanwhile stays', async () => {
    const { order, input } = await awaited();
    const { transaction_id } = input;
    const recorded = await moveOrder(
      database.db,
      order,
      { transaction_id, to: 'error' },
      { source: 'processor', now: NOW, result: 'declined' },
    );
    expect(await activities().setChargeOutcome({ ...manualOutcomeOf(input), now: NOW })).toEqual(recorded);
    expect(await trailOf(transaction_id)).toEqual([]);
  });

  const BEYOND = 'refunded and charged back beyond what was captured';
  const authorization = { transaction_type: 'authorization', capture_mode: 'manual', capture_period: 'P5D' } as const;
  test.each<['approved' | 'declined', Partial<NewTransaction>, number, string | undefined]>([
    ['approved', {}, 500, undefined],
    ['approved', {}, 501, BEYOND],
    // It captures nothing yet.
    ['approved', authorization, 1, BEYOND],
    ['declined', {}, 1, BEYOND],
  ])('rules 9.10: %s %j, of which %i were charged back before that', async (set, transaction, amount, attention) => {
    const { order, input } = await awaited(transaction);
    const chargeback = aFollowUp(order, { kind: 'chargeback', amount });
    await answerFollowUp(database.db, chargeback, await insertFollowUp(database.db, chargeback), 'approved');
    await addAttention(database.db, order.id, 'another reason');
    const after = await activities().setChargeOutcome({ ...manualOutcomeOf(input, { outcome: set }), now: NOW });
    expect(after.attention).toBe(attention === undefined ? 'another reason' : `another reason; ${attention}`);
  });
});

test('setFollowUpOutcome moves the amount once, and an outcome that was recorded meanwhile stays', async () => {
  const payment = await anAcceptedPayment(database.db, { mode: 'sale' });
  const [one, other] = [
    aFollowUp(payment, { kind: 'refund', amount: 10 }),
    aFollowUp(payment, { kind: 'refund', amount: 20 }),
  ];
  const asked = await insertFollowUp(database.db, one);
  await insertFollowUp(database.db, other);
  await answerFollowUp(database.db, one, asked, 'refused', NOW);
  const command_line = { request_id: '01900000-0000-7000-8000-000000000001' };
  for (const follow_up of [one, other, other]) {
    await activities().setFollowUpOutcome({
      ...follow_up,
      project_id: PROJECT.id,
      manual_outcome: { ...manual_outcome, command_line },
      now: NOW,
    });
  }
  const [refused, approved] = [await view(one.id), await view(other.id)];
  expect([refused.status, approved.status]).toEqual(['error', 'completed']);
  expect([refused, approved].map(({ transactions }) => transactions[0]!.response_code)).toEqual([null, '00']);
  const by = { actor_kind: 'command_line', actor_id: 'Ada', ...command_line };
  expect(await trailOf(transactionId(other.id, 1))).toMatchObject([{ ...by, after: { order_id: other.id, outcome } }]);
  expect(await trailOf(transactionId(one.id, 1))).toEqual([]);
  expect((await view(payment.id)).transactions[0]).toMatchObject({ refunded_amount: 20, refund_pending_amount: 0 });
});

test('rules 10.14: a workflow that does not know that its refund was set to declined does not send it again', async () => {
  const payment = await anAcceptedPayment(database.db, { mode: 'sale' });
  const refund = aFollowUp(payment, { kind: 'refund', amount: 10 });
  const before = await answerFollowUp(
    database.db,
    refund,
    await insertFollowUp(database.db, refund),
    'processing',
    NOW,
  );
  const input = { ...refund, project_id: PROJECT.id, now: NOW };
  const set = { ...manual_outcome, transaction_id: transactionId(refund.id, 1), outcome: 'declined' } as const;
  await activities().setFollowUpOutcome({ ...input, manual_outcome: set });
  // The processor knows nothing of it, and has no other function: sending it would fail.
  const polled = await activities('not_found').pollFollowUp({ ...input, order: before, poll_at: NOW });
  expect([polled.status, (await view(payment.id)).transactions[0]!.refund_pending_amount]).toEqual(['error', 0]);
});

test('the move and its entry in the audit trail are written together, or neither', async () => {
  const { input } = await awaited();
  const unwritable = manualOutcomeOf(input, { command_line: { request_id: 'no uuid' } });
  await expect(activities().setChargeOutcome({ ...unwritable, now: NOW })).rejects.toThrow(/uuid/);
  expect((await view(input.order_id)).status).toBe('processing');
});

describe('verifyManualOutcome', () => {
  const processorThatAnswers = (result: 'approved' | 'declined' | 'processing') =>
    ({ result, occurred: new Date(NOW).toISOString() }) as OperationOutcome;

  test.each([
    ['declined', 'set by hand as approved, but the processor says declined'],
    ['approved', null],
    ['processing', null],
  ] as const)('of an approval, the processor says %s: %s', async (result, attention) => {
    const { input } = await awaited();
    await activities().setChargeOutcome({ ...manualOutcomeOf(input), now: NOW });
    const { order_id } = input;
    await activities(processorThatAnswers(result)).verifyManualOutcome({ order_id, key: 'k', now: NOW });
    expect((await loadOrderSnapshot(database.db, order_id)).attention ?? null).toBe(attention);
  });

  test('rules 10.18: a refund that was recorded as declined, a sign that it was not, and no answer: it is asked until there is one', async () => {
    const payment = await anAcceptedPayment(database.db, { mode: 'sale' });
    const refund = aFollowUp(payment, { kind: 'refund', amount: 10 });
    const asked = await insertFollowUp(database.db, refund);
    await answerFollowUp(database.db, refund, asked, 'refused', NOW);
    const watch = () => findWatch(database.db, transactionId(refund.id, 1));
    const verify = (answer: OperationOutcome | 'not_found', now: number) =>
      activities(answer).verifyManualOutcome({ order_id: refund.id, key: 'k', now });
    // A workflow that restarts asks without a sign.
    await verify('not_found', NOW);
    expect(await watch()).toBeUndefined();
    await verify('unknown', NOW);
    const { poll_at } = (await watch())!;
    expect((await verify(processorThatAnswers('approved'), poll_at)).attention).toMatch(/processor says approved/);
    expect(await watch()).toBeUndefined();
  });

  test('rules 10.14: of an approval about which the processor says nothing at that moment: it is asked until it does', async () => {
    const { input } = await awaited();
    const { order_id } = input;
    const transaction_id = transactionId(order_id, 1);
    await activities().setChargeOutcome({ ...manualOutcomeOf(input), now: NOW });
    const verify = (answer: OperationOutcome, now: number) =>
      activities(answer).verifyManualOutcome({ order_id, key: 'k', now });
    await verify('unknown', NOW);
    const { poll_at } = (await findWatch(database.db, transaction_id))!;
    expect(poll_at).toBeGreaterThan(NOW);
    await verify('unknown', poll_at);
    expect((await findWatch(database.db, transaction_id))!.poll_at).toBeGreaterThan(poll_at);
    expect((await verify(processorThatAnswers('declined'), poll_at + 1)).attention).toMatch(/processor says declined/);
    expect(await findWatch(database.db, transaction_id)).toBeUndefined();
  });

  test('of an order whose outcome is open: the processor is not asked', async () => {
    const { order } = await awaited();
    expect(
      await activities(processorThatAnswers('approved')).verifyManualOutcome({
        order_id: order.id,
        key: 'k',
        now: NOW,
      }),
    ).toEqual(order);
  });
});

describe('rules 10.18: a sign that a refund was approved, although it is recorded as refused', () => {
  const HOUR = 60 * 60_000;
  async function signed(): Promise<{ order_id: string; transaction_id: string }> {
    const payment = await anAcceptedPayment(database.db, { mode: 'sale' });
    const refund = aFollowUp(payment, { kind: 'refund', amount: 10 });
    await answerFollowUp(database.db, refund, await insertFollowUp(database.db, refund), 'refused', NOW);
    const transaction_id = transactionId(refund.id, 1);
    await insertWatch(database.db, transaction_id, { poll_at: NOW, began: NOW });
    return { order_id: refund.id, transaction_id };
  }
  const verify = (order_id: string, outcome: unknown, now: number) =>
    activities(outcome as Parameters<typeof activities>[0]).verifyManualOutcome({ order_id, key: 'k', now });
  const answered = (result: string) => ({ result, amount: 10, currency: 'EUR', occurred: new Date(NOW).toISOString() });

  test.each<[string, unknown]>([
    ['nothing', 'unknown'],
    ['that it is processing', answered('processing')],
    ['that it does not know it, yet', 'not_found'],
  ])('stays while the processor answers %s', async (_what, outcome) => {
    const { order_id, transaction_id } = await signed();
    expect((await verify(order_id, outcome, NOW)).attention).toBeUndefined();
    expect(await findWatch(database.db, transaction_id)).toMatchObject({ poll_at: NOW + HOUR, polls: 1 });
  });

  test('needs attention after a day without an answer, and when it is true; then it ends', async () => {
    const { order_id, transaction_id } = await signed();
    expect((await verify(order_id, 'unknown', NOW + 24 * HOUR)).attention).toMatch(/no answer for a day/);
    expect(await findWatch(database.db, transaction_id)).toMatchObject({ poll_at: NOW + 30 * HOUR });
    // An operator has to act on this one in any case.
    await addAttention(database.db, order_id, 'the money is still held');
    expect((await verify(order_id, answered('approved'), NOW + 25 * HOUR)).attention).toBe(
      'the money is still held; recorded as declined, but the processor says approved',
    );
    expect(await findWatch(database.db, transaction_id)).toBeUndefined();
  });

  test('rules 24.19: attention to an answer that was late ends with an answer that contradicts nothing', async () => {
    const { order_id } = await signed();
    await verify(order_id, 'unknown', NOW + 24 * HOUR);
    const open = { object_id: order_id, until: null };
    expect(await database.db('attentions').where(open)).toHaveLength(1);
    expect((await verify(order_id, answered('refused'), NOW + 25 * HOUR)).attention).toBeUndefined();
    expect(await database.db('attentions').where(open)).toEqual([]);
  });

  test('ends when the processor does not know it for hours, or says no', async () => {
    for (const [outcome, now] of [
      ['not_found', NOW + 6 * HOUR],
      [answered('refused'), NOW],
    ] as const) {
      const { order_id, transaction_id } = await signed();
      expect((await verify(order_id, outcome, now)).attention).toBeUndefined();
      expect(await findWatch(database.db, transaction_id)).toBeUndefined();
    }
  });
});
