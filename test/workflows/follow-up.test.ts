import { WorkflowUpdateFailedError } from '@temporalio/client';
import { findWatch } from '../../src/db/orders/late-approvals';
import { followUpIdempotencyKey } from '../../src/domain/follow-up';
import { chargeIdempotencyKey } from '../../src/domain/transaction';
import { processorOrderId, reversalOrderId } from '../../src/ids';
import type { Processor } from '../../src/processor/client';
import type { Fault } from '../../src/simulator/faults';
import { createWorkflowClients } from '../../src/temporal/workflows';
import {
  ATTENTION,
  ORDER_STATUS,
  PROJECT_ID,
  RELATED_ORDER_ID,
  firstAnswerUpdate,
  orderWorkflowId,
  processorAnswered,
  setOutcomeUpdate,
  type FollowUpInput,
} from '../../workflows/messages';
import { aLateRequest, CARDS, PROJECT, transactionIdOf } from '../support/domain';
import { Merchant } from '../support/merchant';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { runProcessor } from '../support/processor';
import { postControl, stack } from '../support/stack';
import { createWorkflowEnvironment } from '../support/temporal';
import { until } from '../support/waits';
import {
  answerAtIssuer,
  createAnOrder,
  startFollowUp,
  followUpOf,
  moneySummaryOf,
  notifyFollowUp,
  statusesOfRow,
  statusesOfOrder,
  type TestOrder,
} from '../support/workflow-orders';

const receiver = setUp(startReceiver);
const merchant = new Merchant();
/** What happens between the processor's answer and what the service makes of it. */
let afterAsking: (key: string) => Promise<void> = () => Promise.resolve();
/** What happens when an activity is done, before the workflow gets its result. */
let afterActivity: (activity: string) => Promise<void> = () => Promise.resolve();
afterEach(async () => {
  afterActivity = () => Promise.resolve();
  afterAsking = () => Promise.resolve();
  await merchant.removeFaults();
});
const world = setUp(() => {
  const processor = runProcessor();
  const asked: Processor = {
    ...processor,
    async findOperation(key, expected) {
      const answer = await processor.findOperation(key, expected);
      await afterAsking(key);
      return answer;
    },
  };
  return createWorkflowEnvironment({
    webhook_url: receiver.url,
    services: { processor: asked },
    afterActivity: (activity) => afterActivity(activity),
  });
});

const refusalOf = (error: unknown) => {
  const cause =
    error instanceof WorkflowUpdateFailedError
      ? (error.cause as { type?: string; cause?: { type?: string } })
      : undefined;
  return cause?.type ?? cause?.cause?.type ?? String(error);
};
const ledger = async (order: TestOrder) =>
  (await merchant.ledger(order.id)).map(({ operation, amount, result }) => `${operation} ${amount} ${result}`);
const becomes = (order_id: string, expected: string) =>
  until(`the follow-up order becomes ${expected}`, async () => (await statusesOfRow(world, order_id)) === expected);
const handleOf = (order_id: string) => world.env.client.workflow.getHandle(orderWorkflowId(order_id));
const tell = (order_id: string) => handleOf(order_id).signal(processorAnswered);
/** Webhooks that came for an order. */
const webhooksOf = (order_id: string) => receiver.received.filter(({ body }) => body.includes(order_id)).length;

const paid = (card: keyof typeof CARDS = 'approved') => createAnOrder(world, { card_number: CARDS[card].number });

/** Cancelled while the customer is at the issuer, where the challenge stays open. */
async function cancelledAtTheIssuer(): Promise<TestOrder> {
  const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
  await order.cancel();
  expect(await statusesOfOrder(order)).toBe('cancelled: cancelled');
  return order;
}

const reversalOf = ({ id }: TestOrder) =>
  followUpOf(id, 'reversal', { id: reversalOrderId(transactionIdOf(id, 1)), requested_by: 'service' });

async function reverse(order: TestOrder): Promise<unknown> {
  return await (await notifyFollowUp(world, reversalOf(order))).result();
}

/** The processor's own doing, as its notification tells it: what is to be recorded. */
async function ofTheProcessor(
  { id }: TestOrder,
  operation: 'chargeback' | 'chargeback_reversal',
  amount?: number,
): Promise<FollowUpInput> {
  const original_transaction_id = transactionIdOf(id, 1);
  const body = { transaction_id: original_transaction_id, operation, amount };
  const response = await postControl(stack(), 'chargebacks', body);
  const { idempotency_key } = (await response.json()) as { idempotency_key: string };
  return toldOf(id, operation, idempotency_key);
}

function toldOf(id: string, operation: 'chargeback' | 'chargeback_reversal', processor_key: string): FollowUpInput {
  const kind = operation === 'chargeback' ? 'chargeback' : 'reversal';
  return followUpOf(id, kind, {
    id: processorOrderId(transactionIdOf(id, 1), processor_key),
    requested_by: 'processor',
    processor_key,
  });
}

/** A payment that was approved after its end, its reversal, and how that is asked for. */
async function aReversal(): Promise<{ order: TestOrder; order_id: string; ask: () => Promise<unknown> }> {
  const order = await cancelledAtTheIssuer();
  await answerAtIssuer(order, { code: '0101' });
  const input = reversalOf(order);
  return { order, order_id: input.id, ask: () => notifyFollowUp(world, input) };
}

/**
 * The processor does not tell either how the operation stands: by itself the workflow asks after two seconds, which a
 * busy machine needs for a look.
 */
const unaskable = ({ id }: TestOrder, kind: 'refund' | 'reversal', order_id: string): Fault => ({
  kind: 'outage',
  operation: 'ask',
  idempotency_key: followUpIdempotencyKey(transactionIdOf(id, 1), kind, order_id),
});

const LOST: Fault['kind'][] = ['lost_answer', 'garbage', 'outage', 'error'];

async function lostAndAskedFor(fault: Fault['kind']): Promise<void> {
  const { order, order_id, ask } = await aReversal();
  // Ends its own fault only: the others are injected at the same time.
  const own = new Merchant();
  await own.addFault({ kind: fault, operation: 'reversal', order_id: order.id, times: 1 });
  await own.addFault(unaskable(order, 'reversal', order_id));
  try {
    await ask();
    expect([fault, await statusesOfRow(world, order_id)]).toEqual([fault, 'processing: processing']);
  } finally {
    await own.removeFaults();
  }
  await tell(order_id);
  await becomes(order_id, 'completed: accepted');
  expect([fault, await moneySummaryOf(order)]).toEqual([fault, 'nothing: reversal completed']);
  expect([fault, ...(await ledger(order)).slice(1)]).toEqual([fault, 'reversal 500 approved']);
  expect([fault, (await merchant.ledger(order.id))[1]]).toMatchObject([fault, { requests: 1 }]);
  await until('its webhooks came', () => webhooksOf(order_id) === 2);
}

// Of captures, voids and refunds: test/journeys/lost-answers.test.ts.
test('rules 10.1: a reversal, whatever is lost: processing, asked for by its key, done once, told by webhooks', async () => {
  const outcomes = await Promise.allSettled(LOST.map(lostAndAskedFor));
  // All of them are over before the first failure is told: none may go on into the next test.
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
});

test('the first answer: at once while the outcome is awaited; who comes after the end finds it ended', async () => {
  const order = await paid();
  const input = followUpOf(order.id, 'refund', { amount: 200 });
  await merchant.addFault({ kind: 'outage', operation: 'refund', order_id: order.id });
  const handle = await startFollowUp(world, input);
  await handle.executeUpdate(firstAnswerUpdate);
  expect(await statusesOfRow(world, input.id)).toBe('processing: processing');
  await merchant.removeFaults();
  await tell(input.id);
  await becomes(input.id, 'completed: accepted');
  await until('its workflow is over', async () => (await handle.describe()).status.name === 'COMPLETED');
  await expect(handle.executeUpdate(firstAnswerUpdate)).rejects.toMatchObject({ name: 'WorkflowNotFoundError' });
});

test('an outcome that comes while a webhook is being started is kept: nobody is asked for it again', async () => {
  const order = await createAnOrder(world, { card_number: CARDS.refund_processing.number });
  const refund = followUpOf(order.id, 'refund', { amount: 200 });
  let isStarting = false;
  afterActivity = async (activity) => {
    if (activity !== 'startDeliveries') return;
    isStarting = true;
    throw new Error('the webhook could not be started');
  };
  await startFollowUp(world, refund);
  await until('its webhook is being started', async () => isStarting);
  const transaction_id = transactionIdOf(refund.id, 1);
  const settlement = { transaction_id, outcome: 'approved', reason: 'Bank statement', operator: 'Ada' } as const;
  await handleOf(refund.id).executeUpdate(setOutcomeUpdate, { args: [settlement] });
  let questions = 0;
  afterAsking = async (key) => {
    if (key.includes(refund.id)) questions += 1;
  };
  afterActivity = () => Promise.resolve();
  await until('its workflow is over', async () => (await handleOf(refund.id).describe()).status.name === 'COMPLETED');
  expect([await statusesOfRow(world, refund.id), questions]).toEqual(['completed: accepted', 0]);
  await until('both webhooks came', () => webhooksOf(refund.id) === 2);
});

describe('refused before anything is stored', () => {
  test('a refund of more than is left: the update fails with the type, the workflow ends', async () => {
    const order = await paid();
    const input = followUpOf(order.id, 'refund', { amount: 501 });
    await expect(startFollowUp(world, input).catch(refusalOf)).resolves.toBe('RefundError');
    expect(await handleOf(input.id).result()).toBe('refused');
    expect(await statusesOfRow(world, input.id)).toBeUndefined();
    expect(await ledger(order)).toEqual(['sale 500 approved']);
  });

  test('rules 10.5: refused once because it came too late, it may be asked for again under the same name', async () => {
    const order = await paid();
    const input = followUpOf(order.id, 'refund', { amount: 100 });
    await expect(startFollowUp(world, { ...input, request: aLateRequest() }).catch(refusalOf)).resolves.toBe(
      'ServiceUnavailable',
    );
    expect(await handleOf(input.id).result()).toBe('refused');
    await startFollowUp(world, input);
    expect(await moneySummaryOf(order)).toBe('500 captured, 100 refunded: refund completed');
  });
});

test.each<[string, (order: TestOrder) => Promise<FollowUpInput>]>([
  [
    'a key it never saw',
    ({ id }) => Promise.resolve(toldOf(id, 'chargeback', `${transactionIdOf(id, 1)}:charge:chargeback`)),
  ],
  [
    'the key of the charge itself',
    ({ id }) => Promise.resolve(toldOf(id, 'chargeback', `${transactionIdOf(id, 1)}:charge`)),
  ],
  [
    'a chargeback notified as one that was won',
    async (order) => ({ ...(await ofTheProcessor(order, 'chargeback')), kind: 'reversal' }),
  ],
  [
    'a chargeback of another payment',
    async ({ id }) => toldOf(id, 'chargeback', (await ofTheProcessor(await paid(), 'chargeback')).processor_key!),
  ],
])('rules 10.9: forged news record nothing: %s', async (_title, forge) => {
  const order = await paid();
  const input = await forge(order);
  const { client } = world.env;
  await createWorkflowClients({ client, db: world.database.db }).follow_ups.startOrPoll(input);
  // An unknown key is asked for again for hours (rules 10.9).
  expect(await handleOf(input.id).result()).toBe('refused');
  expect(await statusesOfRow(world, input.id)).toBeUndefined();
  expect(await moneySummaryOf(order)).toBe('500 captured');
});

describe('rules 10.11: a payment that was approved after its end', () => {
  test('approved while the order is cancelled, and notified while it ends: reversed', async () => {
    const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
    afterAsking = async (key) => {
      if (!key.startsWith(transactionIdOf(order.id, 1))) return;
      afterAsking = () => Promise.resolve();
      await answerAtIssuer(order, { code: '0101' });
      await order.handle.signal(processorAnswered);
    };
    await order.cancel();
    expect(await statusesOfOrder(order)).toBe('cancelled: cancelled');
    await until('it is given back', async () => (await ledger(order)).length === 2);
    expect(await ledger(order)).toEqual(['sale 500 approved', 'reversal 500 approved']);
    await until('the record says so', async () => (await order.view()).follow_ups[0]?.status === 'completed');
  });

  test('news that come before the approval leave room for those that come after', async () => {
    const order = await cancelledAtTheIssuer();
    await notifyFollowUp(world, reversalOf(order));
    expect((await order.view()).follow_ups).toEqual([]);
    await answerAtIssuer(order, { code: '0101' });
    expect(await reverse(order)).toBe('completed');
  });

  test('rules 10.12: once the processor has declined, also before its poll is due, it is not polled any more, and nothing is reversed', async () => {
    const order = await cancelledAtTheIssuer();
    const { id } = reversalOf(order);
    const isIn = async (status: string) =>
      (
        await handleOf(id)
          .describe()
          .catch(() => undefined)
      )?.status.name === status;
    await until('its reversal waits to poll', () => isIn('RUNNING'));
    await answerAtIssuer(order, { code: '3333' });
    let polls = 0;
    afterAsking = async (key) => {
      if (key.startsWith(transactionIdOf(order.id, 1))) polls += 1;
    };
    await tell(id);
    await until('its workflow is over', () => isIn('COMPLETED'));
    expect([polls, await findWatch(world.database.db, transactionIdOf(order.id, 1))]).toEqual([1, undefined]);
    expect([await statusesOfRow(world, id), await ledger(order)]).toEqual([
      undefined,
      [expect.stringMatching(/^sale/)],
    ]);
  });

  test('its workflow is lost while the processor answers nothing: its outcome is set by hand', async () => {
    const { order, order_id, ask } = await aReversal();
    await merchant.addFault({ kind: 'outage', operation: 'reversal', order_id: order.id });
    await merchant.addFault(unaskable(order, 'reversal', order_id));
    await ask();
    expect(await statusesOfRow(world, order_id)).toBe('processing: processing');
    const idempotency_key = chargeIdempotencyKey(transactionIdOf(order.id, 1));
    await merchant.addFault({ kind: 'outage', operation: 'ask', idempotency_key });
    await handleOf(order_id).terminate('lost');
    await ask();
    const transaction_id = transactionIdOf(order_id, 1);
    const settlement = { transaction_id, outcome: 'approved', reason: 'Bank statement', operator: 'Ada' } as const;
    await handleOf(order_id).executeUpdate(setOutcomeUpdate, { args: [settlement] });
    expect(await statusesOfRow(world, order_id)).toBe('completed: accepted');
  });
});

test('rules 10.18: a sign about a refused refund is not forgotten when the processor does not answer', async () => {
  const order = await paid('refund_refused');
  const refund = followUpOf(order.id, 'refund', { amount: 100 });
  await startFollowUp(world, refund);
  expect(await statusesOfRow(world, refund.id)).toBe('error: error');
  await handleOf(refund.id).result();
  await merchant.addFault(unaskable(order, 'refund', refund.id));
  const { follow_ups } = createWorkflowClients({ client: world.env.client, db: world.database.db });
  await follow_ups.requestPoll(refund.id);
  await handleOf(refund.id).result();
  const watch = await findWatch(world.database.db, transactionIdOf(refund.id, 1));
  expect(watch).toMatchObject({ polls: 1 });
  // Recovery comes back to it.
  await merchant.removeFaults();
  await follow_ups.resumeWatch(watch!);
  await handleOf(refund.id).result();
  expect(await findWatch(world.database.db, transactionIdOf(refund.id, 1))).toBeUndefined();
});

const details = async (order_id: string) =>
  ((await handleOf(order_id).query('__temporal_workflow_metadata')) as { currentDetails?: string }).currentDetails ??
  '';

test('an operator sees in the Web UI whose it is, what it follows, its status and what it waits for; nothing personal', async () => {
  const order = await paid();
  const input = followUpOf(order.id, 'refund', {
    amount: 200,
    description: 'For Ada Lovelace',
    extra: { email: 'ada@example.com' },
  });
  await merchant.addFault({ kind: 'outage', operation: 'refund', order_id: order.id });
  const handle = await startFollowUp(world, input);
  const { typedSearchAttributes } = await handle.describe();
  expect([ORDER_STATUS, PROJECT_ID, RELATED_ORDER_ID, ATTENTION].map((key) => typedSearchAttributes.get(key))).toEqual([
    'processing',
    PROJECT.id,
    order.id,
    undefined,
  ]);
  const waiting = await details(input.id);
  for (const part of [
    '**processing**',
    '200 EUR',
    'Asks the processor again, at ',
    orderWorkflowId(order.id),
    'requested by the merchant',
  ]) {
    expect(waiting).toContain(part);
  }
  expect(waiting).not.toMatch(/Ada|example\.com|4111|vt_/);
  await merchant.removeFaults();
  await tell(input.id);
  await becomes(input.id, 'completed: accepted');
  await until(
    'it is over',
    async () => (await handle.describe()).typedSearchAttributes.get(ORDER_STATUS) === 'completed',
  );
  expect(await details(input.id)).toContain('Nothing is awaited: completed is final.');
});
