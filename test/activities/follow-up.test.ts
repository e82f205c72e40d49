import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { setTimeout as sleep } from 'node:timers/promises';
import { createActivities } from '../../activities';
import type { ActivityServices } from '../../activities/services';
import { mayBeApproved } from '../../api/page/order';
import { announceOperation, endAnnouncement } from '../../src/db/orders/announced-operations';
import { moveOrder } from '../../src/db/orders/move-order';
import { findStoredOrder, moneyOf } from '../../src/db/orders/stored-order';
import { amountDetails } from '../../src/domain/amounts';
import type { FollowUpKind } from '../../src/domain/follow-up';
import type { OrderSnapshot } from '../../src/domain/order-snapshot';
import { chargeIdempotencyKey } from '../../src/domain/transaction';
import { ServiceError } from '../../src/errors';
import { closingOrderId, processorOrderId, reversalOrderId } from '../../src/ids';
import type { Processor } from '../../src/processor/client';
import type { ReportedOperation } from '../../src/processor/wire';
import { createWorkflowClients } from '../../src/temporal/workflows';
import { orderWorkflowId, type FollowUpInput } from '../../workflows/messages';
import { createTestDatabase } from '../support/database';
import {
  aCharge,
  anOrder,
  BY_TOKEN,
  CARDS,
  MINUTE,
  NOW,
  PROJECT,
  transactionIdOf,
  type CardName,
} from '../support/domain';
import { Merchant } from '../support/merchant';
import { setUp } from '../support/set-up';
import { answerIssuer, runProcessor } from '../support/processor';
import { followUpOf, vaultToken } from '../support/workflow-orders';

/** Each activity may have been killed anywhere and is run again. */
const database = setUp(() => createTestDatabase());
const processor = setUp(() => runProcessor());
/** What was started, signalled or both: `start order:…`, `signal order:…`, `tell order:…`. */
const calls: string[] = [];
const merchant = new Merchant();
beforeEach(() => calls.splice(0));

type StartOptions = { workflowId: string; workflowIdConflictPolicy?: string };
/** Temporal as far as these activities know it; `error`: what every call fails with. */
const client = (error?: Error) => {
  const record = (what: string) => (calls.push(what), error ? Promise.reject(error) : Promise.resolve());
  return {
    withDeadline: (_at: number, call: () => Promise<unknown>) => call(),
    workflow: {
      start: (_name: string, { workflowId, workflowIdConflictPolicy }: StartOptions) =>
        record(`start ${workflowId}`).catch((failure: unknown) => {
          // As Temporal does: a start that may join the running workflow does not fail.
          const joins = workflowIdConflictPolicy === 'USE_EXISTING';
          if (!joins || !(failure instanceof WorkflowExecutionAlreadyStartedError)) throw failure;
        }),
      signalWithStart: (_name: string, { workflowId }: { workflowId: string }) => record(`tell ${workflowId}`),
      getHandle: (workflowId: string) => ({ signal: () => record(`signal ${workflowId}`) }),
    },
  } as unknown as Client;
};
const activities = (over: Partial<Processor> = {}, temporal = client()) =>
  activitiesWith({
    db: database.db,
    processor: { ...processor, ...over },
    workflows: createWorkflowClients({ client: temporal, db: database.db }),
    public_url: 'http://pay.test',
  });
const activitiesWith = (services: Pick<ActivityServices, 'db' | 'processor' | 'workflows' | 'public_url'>) =>
  createActivities(services as ActivityServices);
/** As the activity, where it has something to do and the processor answers. */
async function carriedOut(input: FollowUpInput & { now: number }, by = activities()): Promise<OrderSnapshot> {
  const { result, order } = await by.executeFollowUp(input);
  if (result !== 'recorded') throw new Error(result);
  return order;
}
/** A worker whose question the processor answers, and which stands still while this happens. */
const stalledWhile = (meanwhile: () => Promise<unknown>) =>
  activities({
    async findOperation(...asked) {
      const answer = await processor.findOperation(...asked);
      await meanwhile();
      return answer;
    },
  });
/** A processor that says nothing. */
const deaf = () =>
  activities({ findOperation: () => Promise.resolve('unknown'), execute: () => Promise.resolve('unknown') });
/** A worker that is killed after the processor has done it and before anything is written. */
const killedAfterwards = () =>
  activities({
    async execute(...asked) {
      await processor.execute(...asked);
      throw new Error('killed');
    },
  });

const view = async (order_id: string) => (await findStoredOrder(database.db, order_id))!;
const ledger = async (order_id: string) =>
  (await merchant.ledger(order_id)).map(
    ({ operation, amount, result, requests }) => `${operation} ${amount} ${result} ${requests}`,
  );

async function paid(
  card: CardName = 'approved',
  capture?: { capture_mode: 'manual' | 'delayed'; capture_period: string },
  amount?: number,
): Promise<OrderSnapshot> {
  const input = aCharge(await vaultToken({ processor }, CARDS[card].number), {
    order: anOrder({ ...BY_TOKEN, description: 'Two books', ...(amount !== undefined && { amount }) }),
  });
  const transaction = {
    ...input.transaction,
    id: transactionIdOf(input.order.id, 1),
    ...(capture && { transaction_type: 'authorization' as const, ...capture }),
  };
  return await activities().createAndCharge({
    ...input,
    transaction,
    now: NOW,
  });
}
const authorized = (capture_mode: 'manual' | 'delayed' = 'manual', card: CardName = 'approved') =>
  paid(card, { capture_mode, capture_period: 'PT1H' });

/** Approved at the processor while the record says cancelled: what a late approval leaves. */
async function approvedTooLate(amount?: number): Promise<OrderSnapshot> {
  const pending = await paid('challenge', undefined, amount);
  const cancelled = await moveOrder(database.db, pending, { ended: 'cancelled' }, { source: 'merchant', now: NOW });
  await atIssuer(pending.id, '0101');
  return cancelled;
}

/** The customer enters a code on the issuer's page of this order. */
async function atIssuer(order_id: string, code: string): Promise<void> {
  const { challenge_url } = (await view(order_id)).transactions[0]!;
  await answerIssuer(challenge_url ?? '', { code });
}

/** A payment of which this kind of order may be asked, and how it is. */
async function ready(kind: FollowUpKind): Promise<FollowUpInput & { now: number }> {
  if (kind === 'refund') return { ...followUpOf((await paid()).id, kind, { amount: 200 }), now: NOW };
  if (kind !== 'reversal') return { ...followUpOf((await authorized()).id, kind, { amount: 200 }), now: NOW };
  const { id: order_id } = await approvedTooLate();
  return {
    ...followUpOf(order_id, kind, { id: reversalOrderId(transactionIdOf(order_id, 1)), requested_by: 'service' }),
    now: NOW,
  };
}

describe.each(['capture', 'void', 'refund', 'reversal'] as const)('executeFollowUp: %s', (kind) => {
  const amount = kind === 'reversal' ? 500 : 200;
  const tells = kind === 'capture' || kind === 'void';

  test('written and carried out once, however often and however late it is repeated', async () => {
    const input = await ready(kind);
    const before = (await view(input.original_order_id)).version;
    const [first, again] = [await carriedOut(input), await carriedOut({ ...input, now: NOW + 5_000 })];
    expect([first.status, again.status]).toEqual(['completed', 'completed']);
    expect((await ledger(input.original_order_id)).slice(1)).toEqual([`${kind} ${amount} approved 1`]);
    const original = await view(input.original_order_id);
    expect(original.follow_ups).toEqual([{ id: input.id, kind, status: 'completed' }]);
    // Its ETag changes with what it shows: once when the order is there, once when it is completed.
    expect(original.version).toBe(before + 2);
    expect((await view(input.id)).description).toBe('Two books');
    // The repeat signals again: the first run may have been killed after recording the outcome.
    expect(calls).toEqual(tells ? Array(2).fill(`signal ${orderWorkflowId(input.original_order_id)}`) : []);
  });
  test('killed between the processor and the record: the next run gets the first answer', async () => {
    const input = await ready(kind);
    await expect(killedAfterwards().executeFollowUp(input)).rejects.toThrow('killed');
    expect((await view(input.id)).status).toBe('new');
    expect((await carriedOut(input)).status).toBe('completed');
    expect((await ledger(input.original_order_id)).slice(1)).toEqual([`${kind} ${amount} approved 2`]);
  });
});

/** Operations of 250 that the processor reports about a paid order. `informed`: activities that can look all of them up. */
function reportedOf(order_id: string, names: readonly ('chargeback' | 'chargeback_reversal')[]) {
  const transaction_id = transactionIdOf(order_id, 1);
  const operations = names.map((operation, n): ReportedOperation => ({
    ...{ order_id, transaction_id, project_id: PROJECT.id, currency: 'EUR', result: 'approved' },
    number: n + 1,
    operation,
    idempotency_key: `${operation} ${n}`,
    amount: 250,
    occurred: new Date(NOW).toISOString(),
  }));
  const findOperation = (key: string) =>
    Promise.resolve(operations.find(({ idempotency_key }) => idempotency_key === key)!);
  const listing = (list: Processor['operations']) => activities({ findOperation, operations: list });
  return {
    operations,
    findOperation,
    listing,
    informed: listing((_of, after) => Promise.resolve(operations.slice(after))),
    inputOf: ({ idempotency_key: processor_key }: ReportedOperation, kind: FollowUpKind) => ({
      ...followUpOf(order_id, kind, { requested_by: 'processor', processor_key }),
      id: processorOrderId(transaction_id, processor_key),
      now: NOW,
    }),
  };
}

describe('executeFollowUp', () => {
  test('a reversal that is recorded is executed, though the processor says nothing more about the charge', async () => {
    const input = await ready('reversal');
    await expect(killedAfterwards().executeFollowUp(input)).rejects.toThrow('killed');
    for (const of_the_charge of ['unknown', 'not_found'] as const) {
      const execute = () => Promise.resolve('unknown' as const);
      const lost = activities({ execute, findOperation: () => Promise.resolve(of_the_charge) });
      expect((await carriedOut(input, lost)).status).toBe('processing');
    }
  });

  test('rules 9.10: a chargeback is recorded with its outcome or not at all', async () => {
    const { id: order_id } = await paid();
    const input = {
      ...followUpOf(order_id, 'chargeback', { requested_by: 'processor', processor_key: 'k' }),
      now: NOW,
    };
    const told = (occurred: string) =>
      activities({
        findOperation: () =>
          Promise.resolve({
            operation: 'chargeback',
            result: 'approved',
            idempotency_key: 'k',
            order_id,
            transaction_id: transactionIdOf(order_id, 1),
            amount: 200,
            currency: 'EUR',
            occurred,
          }),
      });
    // The database refuses its outcome, as when the worker dies before it is written.
    await expect(told('not an instant').executeFollowUp(input)).rejects.toThrow('not an instant');
    expect((await view(order_id)).follow_ups).toEqual([]);
    expect((await carriedOut(input, told(new Date(NOW).toISOString()))).status).toBe('completed');
    expect((await view(order_id)).transactions[0]!.charged_back_amount).toBe(200);
    // Its workflow starts again from the row, which does not have the key.
    const { processor_key: _, ...restarted } = input;
    for (const by of [activities(), deaf()]) expect((await carriedOut(restarted, by)).status).toBe('completed');
    expect(await database.db('announced_operations').where({ original_order_id: order_id })).toEqual([]);
  });

  test('rules 10.9: a win whose own chargeback is not recorded yet waits for it: it does not make good another one', async () => {
    const { id: order_id } = await paid();
    const reported = reportedOf(order_id, ['chargeback', 'chargeback', 'chargeback_reversal']);
    const { operations, findOperation, listing, informed, inputOf } = reported;
    const [lost, late, win] = operations as [ReportedOperation, ReportedOperation, ReportedOperation];
    const refundable = async () => amountDetails((await view(order_id)).transactions.map(moneyOf), NOW).refundable;
    await carriedOut(inputOf(lost, 'chargeback'), informed);
    calls.splice(0);
    expect(await informed.executeFollowUp(inputOf(win, 'reversal'))).toEqual({ result: 'unanswered' });
    expect([calls.splice(0), await refundable()]).toEqual([
      [`tell ${orderWorkflowId(inputOf(late, 'chargeback').id)}`],
      250,
    ]);
    // What it lists may lag behind what it knows by its key, and it may not answer.
    const lagging = listing(() => Promise.resolve([lost]));
    const silent = listing(() => Promise.reject(new ServiceError('GatewayTimeout', 'No answer.')));
    const unreachable = activities(
      { findOperation, operations: () => Promise.resolve(operations) },
      client(new ServiceError('ServiceUnavailable', 'No answer.')),
    );
    for (const by of [lagging, silent, unreachable]) {
      expect(await by.executeFollowUp(inputOf(win, 'reversal'))).toEqual({ result: 'unanswered' });
    }
    await carriedOut(inputOf(late, 'chargeback'), informed);
    expect(await refundable()).toBe(0);
    await carriedOut(inputOf(win, 'reversal'), informed);
    expect(await refundable()).toBe(250);
  });

  test('rules 10.9: a win beside a chargeback in another currency, whose own it may be, is not recorded', async () => {
    const { id: order_id } = await paid();
    const { operations, informed, inputOf } = reportedOf(order_id, ['chargeback', 'chargeback_reversal']);
    const [lost, win] = operations as [ReportedOperation, ReportedOperation];
    lost.currency = 'USD';
    // What came after the win is not its own.
    operations.push({ ...lost, number: 3, idempotency_key: 'later' });
    expect(await informed.executeFollowUp(inputOf(win, 'reversal'))).toEqual({
      result: 'nothing',
      attention:
        'the processor reports a won chargeback of 250 EUR (minor units) beside a chargeback in another currency',
    });
    expect((await view(order_id)).transactions[0]).toMatchObject({ charged_back_amount: 0, won_back_amount: 0 });
    operations.shift();
    await carriedOut(inputOf(win, 'reversal'), informed);
    expect((await view(order_id)).transactions[0]).toMatchObject({ charged_back_amount: 0, won_back_amount: 250 });
  });

  test('rules 4.12: an outcome is noticed when its answer comes, not when it was asked for', async () => {
    const input = await ready('refund');
    const execute = async (...asked: Parameters<Processor['execute']>) => {
      await sleep(50);
      return await processor.execute(...asked);
    };
    await carriedOut(input, activities({ execute }));
    const { noticed } = (await view(input.id)).transactions[0]!.events.at(-1)!;
    expect(Date.parse(noticed) - input.now).toBeGreaterThanOrEqual(49);
  });

  test('a closed order needs no signal about its capture; a signal that fails is sent again', async () => {
    const input = await ready('capture');
    await expect(activities({}, client(new Error('no Temporal'))).executeFollowUp(input)).rejects.toThrow(
      'no Temporal',
    );
    expect(
      (await carriedOut(input, activities({}, client(new WorkflowNotFoundError('over', 'w', undefined))))).status,
    ).toBe('completed');
    expect(calls).toHaveLength(2);
  });
});

describe('pollFollowUp', () => {
  test('an outcome that was recorded before its signal failed is signalled by the next try, though the processor does not answer it', async () => {
    const input = await ready('void');
    const order = await carriedOut(input, deaf());
    expect(order.status).toBe('processing');
    const poll = { ...input, order, poll_at: NOW + 2_000 };
    await expect(activities({}, client(new Error('no Temporal'))).pollFollowUp(poll)).rejects.toThrow('no Temporal');
    expect((await view(input.id)).status).toBe('completed');
    calls.splice(0);
    expect((await deaf().pollFollowUp(poll)).status).toBe('completed');
    expect(calls).toEqual([`signal ${orderWorkflowId(input.original_order_id)}`]);
  });
});

test('rules 10.14: an outcome that was set by hand while the refund was sent again, and that its answer contradicts, needs attention', async () => {
  const input = await ready('refund');
  const order = await carriedOut(input, deaf());
  const [transaction_id, operator] = [transactionIdOf(input.id, 1), 'o'];
  const manual_outcome = { transaction_id, outcome: 'declined', reason: 'Bank statement', operator } as const;
  const slow = activities({
    findOperation: async () => 'not_found',
    async execute(...asked) {
      await activities().setFollowUpOutcome({ ...input, manual_outcome });
      return await processor.execute(...asked);
    },
  });
  const text = 'set by hand as declined, but the processor says approved';
  const polled = await slow.pollFollowUp({ ...input, order, poll_at: NOW + 2_000 });
  expect([polled.status, polled.attention]).toEqual(['error', text]);
});

describe('startCaptureOrVoid', () => {
  type CaptureInput = Parameters<ReturnType<typeof activities>['startCaptureOrVoid']>[0];

  test('sets the money aside and starts the workflow, once and again', async () => {
    const { id: order_id } = await authorized();
    const input = { ...followUpOf(order_id, 'capture', { amount: 300 }), kind: 'capture' as const, now: NOW };
    const first = await activities().startCaptureOrVoid(input);
    expect(first.transactions[0]!.capture).toMatchObject({ reserved: 200, unanswered: 300 });
    const there = new WorkflowExecutionAlreadyStartedError('there', orderWorkflowId(input.id), 'followUp');
    expect(await activities({}, client(there)).startCaptureOrVoid(input)).toEqual(first);
    expect(calls).toEqual(Array(2).fill(`start ${orderWorkflowId(input.id)}`));
    expect(await ledger(order_id)).toEqual(['authorize 500 approved 1']);
  });

  test('killed before the workflow was started: the repeat starts it, and another capture only its own', async () => {
    const { id: order_id } = await authorized();
    const [one, other] = [100, 200].map((amount) => ({
      ...followUpOf(order_id, 'capture', { amount }),
      kind: 'capture' as const,
      now: NOW,
    })) as [CaptureInput, CaptureInput];
    await expect(activities({}, client(new Error('killed'))).startCaptureOrVoid(one)).rejects.toThrow('killed');
    calls.splice(0);
    for (const input of [other, one]) await activities().startCaptureOrVoid(input);
    expect(calls.splice(0)).toEqual([other, one].map(({ id }) => `start ${orderWorkflowId(id)}`));
    await carriedOut(one);
    calls.splice(0);
    await activities().startCaptureOrVoid(one);
    expect(calls).toEqual([]);
  });
});

describe('closeCaptureWindow', () => {
  /** The end of the window of an authorization: an hour after the processor's answer. */
  const endOf = async (order_id: string) => Date.parse((await view(order_id)).transactions[0]!.capture_ends_at!);

  test.each([
    ['manual', 'void'],
    ['delayed', 'capture'],
  ] as const)('%s: one %s of the rest, however often it is repeated', async (mode, kind) => {
    const { id: order_id } = await authorized(mode);
    const end = await endOf(order_id);
    const first = await activities().closeCaptureWindow({ order_id, now: end });
    expect(await activities().closeCaptureWindow({ order_id, now: end + 1 })).toEqual(first);
    const id = closingOrderId(transactionIdOf(order_id, 1), 1);
    expect((await view(order_id)).follow_ups).toEqual([{ id, kind, status: 'new' }]);
    expect(calls).toEqual(Array(2).fill(`start ${orderWorkflowId(id)}`));
    expect(first.transactions[0]!.capture).toMatchObject({ reserved: 0, unanswered: 500 });
  });

  const LATE_MS = 50;

  test.each<[string, { polled: number; answered_after_ms?: number; expected: string[] }]>([
    ['before the end: it is captured with the rest', { polled: -MINUTE, expected: ['capture 500'] }],
    ['at the end: the rest is captured, and it is released', { polled: 0, expected: ['capture 300', 'void 200'] }],
    [
      'after the end, although the processor was polled before it: it is released',
      { polled: -LATE_MS / 2, answered_after_ms: LATE_MS, expected: ['capture 300', 'void 200'] },
    ],
  ])('rules 8.8: a void of a delayed authorization that is refused %s', async (_when, of) => {
    const { polled, answered_after_ms = 0, expected } = of;
    const { id: order_id } = await authorized('delayed');
    const end = await endOf(order_id);
    const voided = { ...followUpOf(order_id, 'void', { amount: 200 }), kind: 'void' as const, now: NOW };
    await activities().startCaptureOrVoid(voided);
    const order = await carriedOut(voided, deaf());
    const refused = {
      operation: 'void',
      result: 'refused',
      idempotency_key: 'k',
      order_id,
      transaction_id: transactionIdOf(order_id, 1),
      amount: 200,
      currency: 'EUR',
      occurred: new Date(NOW).toISOString(),
    } as const;
    const findOperation = () =>
      answered_after_ms === 0 ? Promise.resolve(refused) : sleep(answered_after_ms, refused);
    await activities({ findOperation }).pollFollowUp({
      ...voided,
      order,
      now: end + polled,
      poll_at: end + polled + MINUTE,
    });
    for (const later of [0, 1, 2]) await activities().closeCaptureWindow({ order_id, now: end + MINUTE + later });
    const closings = (await view(order_id)).follow_ups.filter(({ id }) => id !== voided.id);
    const amounts = await Promise.all(closings.map(async ({ id, kind }) => `${kind} ${(await view(id)).amount}`));
    expect(amounts).toEqual(expected);
  });

  test('it starts what it wrote, also when it was killed before that, and no other open capture', async () => {
    const { id: order_id } = await authorized();
    for (const amount of [10, 20, 30]) {
      const input = followUpOf(order_id, 'capture', { amount });
      await activities().startCaptureOrVoid({ ...input, kind: 'capture', now: NOW });
    }
    calls.splice(0);
    const end = await endOf(order_id);
    const close = (by = activities()) => by.closeCaptureWindow({ order_id, now: end });
    await expect(close(activities({}, client(new Error('killed'))))).rejects.toThrow('killed');
    await close();
    const id = closingOrderId(transactionIdOf(order_id, 1), 1);
    expect(calls).toEqual(Array(2).fill(`start ${orderWorkflowId(id)}`));
    await carriedOut({ ...followUpOf(order_id, 'void', { id, requested_by: 'service' }), now: end });
    calls.splice(0);
    await close();
    expect(calls).toEqual([]);
  });

  test('an order that is not there is no refusal: Temporal tries again', async () => {
    await expect(activities().closeCaptureWindow({ order_id: uuidv7(), now: NOW })).rejects.not.toHaveProperty(
      'nonRetryable',
      true,
    );
  });
});

describe('startReversal', () => {
  test('only of a payment that ended unpaid', async () => {
    const late = await approvedTooLate();
    const transaction_id = transactionIdOf(late.id, 1);
    await activities().startReversal({ transaction_id, now: NOW });
    await activities().startReversal({ transaction_id, poll_after_ms: MINUTE, now: NOW });
    // News are told to the one that waits to ask of itself.
    expect(calls.splice(0)).toEqual(
      ['tell', 'start'].map((what) => `${what} ${orderWorkflowId(reversalOrderId(transaction_id))}`),
    );
    const { id: order_id } = await paid();
    await activities().startReversal({
      transaction_id: transactionIdOf(order_id, 1),
      poll_after_ms: MINUTE,
      now: NOW,
    });
    expect(calls).toEqual([]);
  });
});

describe('the watch for a late approval', () => {
  const isWatched = async (order_id: string) =>
    (await database.db('late_approval_watches').where({ transaction_id: transactionIdOf(order_id, 1) })).length === 1;

  test('rules 10.11: what was charged back is not given back again, nor what a chargeback is announced of', async () => {
    const { id } = await approvedTooLate();
    const transaction_id = transactionIdOf(id, 1);
    const input = followUpOf(id, 'reversal', { id: reversalOrderId(transaction_id), requested_by: 'service' });
    const execute = () => activities().executeFollowUp({ ...input, now: NOW });
    const change = (amounts: object) => database.db('transactions').where({ id: transaction_id }).update(amounts);
    const announced = { order_id: uuidv7(), kind: 'chargeback', processor_key: 'key' } as const;
    const of_payment = { original_order_id: id, original_transaction_id: transaction_id };
    await announceOperation(database.db, { ...announced, ...of_payment }, NOW);
    expect(await execute()).toMatchObject({ result: 'unanswered' });
    expect(await isWatched(id)).toBe(true);
    await endAnnouncement(database.db, announced.order_id);
    await change({ charged_back_amount: 40 });
    const attention = expect.stringContaining('charged back: 40 EUR') as string;
    expect(await execute()).toEqual({ result: 'nothing', attention });
    const stored = await view(id);
    // Rules 12.12: no page says that nothing was charged.
    expect([await isWatched(id), mayBeApproved(stored, NOW), stored.follow_ups]).toEqual([false, true, []]);
    await change({ charged_back_amount: 0 });
    // Also when it comes while the processor is asked about the payment.
    const charged_back = stalledWhile(async () => await change({ charged_back_amount: 40 }));
    expect(await charged_back.executeFollowUp({ ...input, now: NOW })).toEqual({ result: 'nothing', attention });
    expect((await view(id)).follow_ups).toEqual([]);
    await change({ charged_back_amount: 0 });
    // A chargeback after the reversal, which another try has written, is another matter.
    const { id: other } = await approvedTooLate();
    const of_other_try = followUpOf(other, 'reversal', {
      id: reversalOrderId(transactionIdOf(other, 1)),
      requested_by: 'service',
    });
    const overtaken = stalledWhile(async () => {
      await activities().executeFollowUp({ ...of_other_try, now: NOW });
      await database.db('transactions').where({ order_id: other }).update({ charged_back_amount: 40 });
    });
    expect(await overtaken.executeFollowUp({ ...of_other_try, now: NOW })).toMatchObject({ result: 'recorded' });
    // A chargeback of another attempt, which was paid, is no reason to wait.
    const of_other = { original_order_id: id, original_transaction_id: (await paid()).transactions[0]!.id };
    await announceOperation(database.db, { ...announced, ...of_other }, NOW);
    expect(await execute()).toMatchObject({ result: 'recorded' });
  });

  test('rules 10.11: a reversal that the processor never got is not sent again once the payment was charged back', async () => {
    const { id } = await approvedTooLate();
    const transaction_id = transactionIdOf(id, 1);
    const input = followUpOf(id, 'reversal', { id: reversalOrderId(transaction_id), requested_by: 'service' });
    const silent = activities({ execute: () => Promise.resolve('unknown') });
    const order = await carriedOut({ ...input, now: NOW }, silent);
    await database.db('transactions').where({ id: transaction_id }).update({ charged_back_amount: 40 });
    const poll = async () =>
      (await activities().pollFollowUp({ ...input, order, now: NOW, poll_at: NOW + 2_000 })).status;
    expect([await poll(), await ledger(id)]).toEqual(['processing', ['sale 500 approved 1']]);
    await database.db('transactions').where({ id: transaction_id }).update({ won_back_amount: 40 });
    expect([await poll(), await ledger(id)]).toEqual(['completed', ['sale 500 approved 1', 'reversal 500 approved 1']]);
  });

  test('is not kept of a card check: an approval of 0 moves no money, so nothing is given back', async () => {
    const { id: order_id } = await approvedTooLate(0);
    expect((await merchant.ledger(order_id)).map(({ amount, result }) => `${amount} ${result}`)).toEqual([
      '0 approved',
    ]);
    expect(await isWatched(order_id)).toBe(false);
    const transaction_id = transactionIdOf(order_id, 1);
    await activities().startReversal({ transaction_id, now: NOW });
    const reversal = followUpOf(order_id, 'reversal', { id: reversalOrderId(transaction_id), requested_by: 'service' });
    expect(await activities().executeFollowUp({ ...reversal, now: NOW })).toEqual({ result: 'nothing' });
    expect([await isWatched(order_id), calls, (await view(order_id)).follow_ups]).toEqual([false, [], []]);
  });

  test('lasts while the processor does not answer, and until it declines', async () => {
    const pending = await paid('challenge');
    await moveOrder(database.db, pending, { ended: 'cancelled' }, { source: 'merchant', now: NOW });
    const input = followUpOf(pending.id, 'reversal', { requested_by: 'service' });
    await deaf().executeFollowUp({ ...input, now: NOW + 15 * MINUTE });
    expect(await isWatched(pending.id)).toBe(true);
    await atIssuer(pending.id, '3333');
    expect(await activities().executeFollowUp({ ...input, now: NOW + 16 * MINUTE })).toEqual({ result: 'nothing' });
    expect(await isWatched(pending.id)).toBe(false);
  });

  test('rules 12.12: ends with a decline before its first poll: the customer cannot pay at the issuer any more', async () => {
    const pending = await paid('challenge');
    await moveOrder(database.db, pending, { ended: 'cancelled' }, { source: 'merchant', now: NOW });
    const { version } = await view(pending.id);
    await atIssuer(pending.id, '3333');
    const input = followUpOf(pending.id, 'reversal', { requested_by: 'service' });
    expect(await activities().executeFollowUp({ ...input, now: NOW + MINUTE })).toEqual({ result: 'nothing' });
    // The page of a customer who returns waits for a new version.
    expect([await isWatched(pending.id), (await view(pending.id)).version]).toEqual([false, version + 1]);
  });

  test('rules 10.12: a processor that does not answer for a day needs attention, and is asked on', async () => {
    const pending = await paid('challenge');
    await moveOrder(database.db, pending, { ended: 'cancelled' }, { source: 'merchant', now: NOW });
    const input = followUpOf(pending.id, 'reversal', { requested_by: 'service' });
    const DAY = 24 * 60 * MINUTE;
    const asked = (by: ReturnType<typeof activities>, now: number) => by.executeFollowUp({ ...input, now });
    expect(await asked(deaf(), NOW + DAY - 1)).toEqual({ result: 'unanswered' });
    const attention = expect.stringContaining('for a day') as string;
    expect(await asked(deaf(), NOW + DAY)).toEqual({ result: 'unanswered', attention });
    expect(await asked(activities(), NOW + DAY)).toEqual({ result: 'undecided', attention });
    expect(await isWatched(pending.id)).toBe(true);
  });
});

test('rules 10.18: a look-up that lags behind a new sign is no answer, however long the payment is watched', async () => {
  const HOUR = 60 * MINUTE;
  const { id: order_id } = await approvedTooLate();
  const transaction_id = transactionIdOf(order_id, 1);
  const watch = database.db('late_approval_watches').where({ transaction_id });
  const age = (poll_at: number) =>
    watch.clone().update({ began: new Date(Date.now() - 7 * HOUR), poll_at: new Date(poll_at), polls: 1 });
  const reversal = followUpOf(order_id, 'reversal', { id: reversalOrderId(transaction_id), requested_by: 'service' });
  const lagging = activities({ findOperation: () => Promise.resolve('not_found') });
  const ask = async () => (await lagging.executeFollowUp({ ...reversal, now: Date.now() })).result;
  const { processor_notifications } = createWorkflowClients({ client: client(), db: database.db });
  const notification = { operation: 'sale', idempotency_key: 'k', order_id, transaction_id };
  await age(Date.now() + HOUR);
  await processor_notifications.handle(notification, Date.now() + MINUTE);
  expect([await ask(), await watch.clone()]).toEqual(['undecided', [expect.objectContaining({ polls: 2 })]]);
  // Recovery, which polls again, is no sign.
  await age(Date.now());
  await createWorkflowClients({ client: client(), db: database.db }).follow_ups.resumeWatch({ transaction_id });
  expect([await ask(), await watch.clone()]).toEqual(['nothing', []]);
});

describe('rules 10.9: an operation that the processor announced', () => {
  const HOUR = 60 * MINUTE;
  const announcedIn = async (order_id: string) =>
    await database.db('announced_operations').where({ original_order_id: order_id });

  test('is kept while the processor does not know it, and needs attention after some hours', async () => {
    const { id } = await paid();
    const input = followUpOf(id, 'chargeback', { requested_by: 'processor', processor_key: 'by the issuer' });
    const ask = (now: number) => activities().executeFollowUp({ ...input, now });
    expect(await ask(NOW)).toEqual({ result: 'unanswered' });
    expect(await ask(NOW + 6 * HOUR - 1)).toEqual({ result: 'unanswered' });
    expect(await announcedIn(id)).toHaveLength(1);
    const attention = expect.stringContaining('announced a chargeback that it does not know') as string;
    expect(await ask(NOW + 6 * HOUR)).toEqual({ result: 'nothing', attention });
    expect(await announcedIn(id)).toEqual([]);
    const [row] = (await database.db('orders').where({ id }).select('attention')) as { attention: string }[];
    expect(row!.attention).toEqual(attention);
  });

  test('is asked about on while the processor does not answer, and needs attention after a day', async () => {
    const { id } = await paid();
    const input = followUpOf(id, 'chargeback', { requested_by: 'processor', processor_key: 'by the issuer' });
    const ask = (now: number) => deaf().executeFollowUp({ ...input, now });
    expect(await ask(NOW)).toEqual({ result: 'unanswered' });
    expect(await ask(NOW + 24 * HOUR - 1)).toEqual({ result: 'unanswered' });
    const attention = expect.stringContaining('no answer for a day about an operation') as string;
    expect(await ask(NOW + 24 * HOUR)).toEqual({ result: 'unanswered', attention });
    expect(await announcedIn(id)).toHaveLength(1);
  });

  test('a key of a charge whose customer is in 3-D Secure announces nothing', async () => {
    const { id } = await paid('challenge');
    const processor_key = chargeIdempotencyKey(transactionIdOf(id, 1));
    const input = followUpOf(id, 'chargeback', { requested_by: 'processor', processor_key });
    expect(await activities().executeFollowUp({ ...input, now: NOW })).toEqual({ result: 'nothing' });
  });
});
