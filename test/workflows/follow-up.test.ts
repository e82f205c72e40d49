import { WorkflowUpdateFailedError } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { presentOrder } from '../../api/present/order';
import { findWatch } from '../../src/db/orders/late-approvals';
import { orderSchema } from '../../src/contract/order';
import { findOrderView } from '../../src/db/orders/order-view';
import { FOLLOW_UPS, followUpIdempotencyKey } from '../../src/domain/follow-up';
import { chargeIdempotencyKey } from '../../src/domain/transaction';
import { processorOrderId, reversalOrderId } from '../../src/ids';
import { createProcessor, type Processor } from '../../src/processor/client';
import type { Fault } from '../../src/simulator/faults';
import { createWorkflows } from '../../src/temporal/workflows';
import {
  ATTENTION,
  ORDER_STATUS,
  PROJECT_ID,
  RELATED_ORDER_ID,
  deliveryWorkflowId,
  firstAnswer,
  orderWorkflowId,
  processorAnswered,
  settleByHand,
  type FollowUpInput,
} from '../../workflows/messages';
import { CARDS } from '../support/cards';
import { Merchant } from '../support/client';
import { PROJECT } from '../support/database';
import {
  MINUTE,
  answerAtIssuer,
  executeFollowUp,
  createAnOrder,
  followUpOf,
  moneySummaryOf,
  statusesOfOrder,
  statusesOf,
  notifyFollowUp,
  becomesDue,
  transactionIdOf,
  type TestOrder,
} from '../support/orders';
import { startReceiver, type Receiver } from '../support/receiver';
import { postControl } from '../support/simulator';
import { stack } from '../support/stack';
import { createWorkflowEnvironment, type WorkflowEnvironment } from '../support/temporal';
import { until } from '../support/until';

let world: WorkflowEnvironment;
let receiver: Receiver;
const merchant = new Merchant();
/** What happens between the processor's answer and what the service makes of it. */
let afterAsking: (key: string) => Promise<void> = () => Promise.resolve();
afterEach(async () => {
  afterAsking = () => Promise.resolve();
  await merchant.removeFaults();
});
beforeAll(async () => {
  receiver = await startReceiver();
  const processor = createProcessor({ url: stack().simulator_url, key: stack().processor_key, timeout_ms: 6_000 });
  const asked: Processor = {
    ...processor,
    async findOperation(key, expected) {
      const answer = await processor.findOperation(key, expected);
      await afterAsking(key);
      return answer;
    },
  };
  world = await createWorkflowEnvironment({ webhook_url: receiver.url, services: { processor: asked } });
});
afterAll(async () => {
  await world?.close();
  await receiver?.close();
});

type AskedFor = 'capture' | 'void' | 'refund' | 'reversal';

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
  until(`the follow-up order becomes ${expected}`, async () => (await statusesOf(world, order_id)) === expected);
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

/** A payment of which this kind of order may be asked, and how it is. */
async function ready(kind: AskedFor): Promise<{ order: TestOrder; order_id: string; ask: () => Promise<unknown> }> {
  if (kind === 'refund') {
    const order = await paid();
    const input = followUpOf(order.id, 'refund', { amount: 200 });
    return { order, order_id: input.id, ask: () => executeFollowUp(world, input) };
  }
  if (kind === 'reversal') {
    const order = await cancelledAtTheIssuer();
    await answerAtIssuer(order, { code: '0101' });
    const input = reversalOf(order);
    return { order, order_id: input.id, ask: () => notifyFollowUp(world, input) };
  }
  const order = await createAnOrder(world, { card_number: CARDS.approved.number, capture_mode: 'manual' });
  const order_id = uuidv7();
  return { order, order_id, ask: () => order.follow(kind, 200, { id: order_id }) };
}

/**
 * The processor does not tell either how the operation stands: by itself the workflow asks after two seconds, which a
 * busy machine needs for a look.
 */
const unaskable = ({ id }: TestOrder, kind: AskedFor, order_id: string): Fault => ({
  kind: 'outage',
  operation: 'ask',
  idempotency_key: followUpIdempotencyKey(transactionIdOf(id, 1), kind, order_id),
});

const KINDS: AskedFor[] = ['capture', 'void', 'refund', 'reversal'];
const MOVED = {
  capture: '200 captured',
  void: '200 voided',
  refund: '500 captured, 200 refunded',
  reversal: 'nothing',
};
const ASKED = { capture: 200, void: 200, refund: 200, reversal: 500 };

describe('every kind that the service asks for', () => {
  test.each(KINDS)('%s: carried out, once, and told to the merchant by a webhook of its own', async (kind) => {
    const { order, order_id, ask } = await ready(kind);
    await ask();
    expect(await statusesOf(world, order_id)).toBe('completed: accepted');
    expect(await moneySummaryOf(order)).toBe(`${MOVED[kind]}: ${kind} completed`);
    expect((await ledger(order)).slice(1)).toEqual([`${kind} ${ASKED[kind]} approved`]);
    await until('its workflow is over', async () => (await handleOf(order_id).describe()).status.name === 'COMPLETED');

    const shown = presentOrder((await findOrderView(world.database.db, order_id))!, 'http://shop.test');
    expect(orderSchema.parse(shown)).toEqual(shown);
    const { flag, of, credit_debit } = FOLLOW_UPS[kind];
    expect(shown).toMatchObject({
      status: 'completed',
      amount: ASKED[kind],
      [of]: order.id,
      related_order_id: order.id,
      flags: ['is-test', flag],
    });
    expect(shown.transactions).toMatchObject([
      {
        transaction_type: kind,
        credit_debit,
        status: 'accepted',
        payment_method: kind === 'refund' ? 'credit-card-refund' : 'credit-card',
      },
    ]);
    for (const absent of ['order_url', 'expiration_period', 'customer']) expect(shown).not.toHaveProperty(absent);
    expect(presentOrder(await order.view(), 'http://shop.test').flags).toEqual([
      'is-test',
      FOLLOW_UPS[kind].original_flag,
    ]);

    await until('its webhook came', () => webhooksOf(order_id) === 1);
    expect(receiver.received.find(({ body }) => body.includes(order_id))?.headers['webhook-id']).toBe(
      deliveryWorkflowId({ order_id, n: 1 }),
    );
    if (kind === 'capture' || kind === 'void') await order.follow('void');
  });

  const LOST: Fault['kind'][] = ['lost_answer', 'garbage', 'outage', 'error'];
  async function lostAndAskedFor(kind: AskedFor, fault: Fault['kind']): Promise<void> {
    const { order, order_id, ask } = await ready(kind);
    // Ends its own fault only: the others are injected at the same time.
    const own = new Merchant();
    await own.addFault({ kind: fault, operation: kind, order_id: order.id, times: 1 });
    await own.addFault(unaskable(order, kind, order_id));
    try {
      await ask();
      expect([fault, await statusesOf(world, order_id)]).toEqual([fault, 'processing: processing']);
    } finally {
      await own.removeFaults();
    }
    await tell(order_id);
    await becomes(order_id, 'completed: accepted');
    expect([fault, await moneySummaryOf(order)]).toEqual([fault, `${MOVED[kind]}: ${kind} completed`]);
    expect([fault, ...(await ledger(order)).slice(1)]).toEqual([fault, `${kind} ${ASKED[kind]} approved`]);
    expect([fault, (await merchant.ledger(order.id))[1]]).toMatchObject([fault, { requests: 1 }]);
    if (kind === 'capture' || kind === 'void') await order.follow('void');
  }

  test.each(KINDS)('%s, whatever is lost: processing, asked for by its key, done once', async (kind) => {
    const outcomes = await Promise.allSettled(LOST.map((fault) => lostAndAskedFor(kind, fault)));
    // All of them are over before the first failure is told: none may go on into the next test.
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  });

  test('without a notification it polls by itself', async () => {
    const { order, order_id, ask } = await ready('refund');
    await merchant.addFault({ kind: 'lost_answer', operation: 'refund', order_id: order.id, times: 1 });
    await ask();
    await world.env.sleep(3_000);
    await becomes(order_id, 'completed: accepted');
    expect(await ledger(order)).toEqual(['sale 500 approved', 'refund 200 approved']);
  });
});

describe('what the processor answers', () => {
  test('later: processing until then, its money set aside, and a webhook for each change', async () => {
    const order = await paid('refund_processing');
    const input = followUpOf(order.id, 'refund', { amount: 300 });
    // Its outcome comes by itself after 20 seconds, which must not be found out before it is looked for.
    await merchant.addFault(unaskable(order, 'refund', input.id));
    await executeFollowUp(world, input);
    expect(await statusesOf(world, input.id)).toBe('processing: processing');
    expect(await moneySummaryOf(order)).toBe('500 captured, 300 refund_pending: refund processing');
    await expect(
      executeFollowUp(world, followUpOf(order.id, 'refund', { amount: 201 })).catch(refusalOf),
    ).resolves.toBe('RefundError');
    await becomesDue(order);
    await merchant.removeFaults();
    await tell(input.id);
    await becomes(input.id, 'completed: accepted');
    expect(await moneySummaryOf(order)).toBe('500 captured, 300 refunded: refund completed');
    await until('both webhooks came', () => webhooksOf(input.id) === 2);
  });

  test.each([
    ['refund', 'refund_refused', '500 captured: refund error'],
    ['capture', 'capture_refused', 'nothing: capture error'],
  ] as const)('no (%s): error, and the money is free again', async (kind, card, expected) => {
    const order = await createAnOrder(world, {
      card_number: CARDS[card].number,
      ...(kind === 'capture' && { capture_mode: 'manual' }),
    });
    const input = followUpOf(order.id, kind, { amount: 500 });
    if (kind === 'capture') await order.follow('capture', 500, input);
    else expect(await (await executeFollowUp(world, input)).result()).toBe('error');
    expect(await statusesOf(world, input.id)).toBe('error: error');
    expect(await moneySummaryOf(order)).toBe(expected);
    const [transaction] = (await findOrderView(world.database.db, input.id))!.transactions;
    expect(transaction).toMatchObject({ response_code: '57' });
    expect(transaction?.events.map(({ event, source, result }) => [event, source, result])).toEqual([
      ['new', 'merchant', null],
      ['error', 'processor', 'failed'],
    ]);
    await until('its webhook came', () => webhooksOf(input.id) === 1);
    if (kind === 'capture') await order.follow('void');
  });
});

describe('asked for more than once', () => {
  test('started twice at once, joined, and started again when it is over: one refund', async () => {
    const order = await paid();
    const input = followUpOf(order.id, 'refund', { amount: 200 });
    await Promise.all([executeFollowUp(world, input), executeFollowUp(world, input)]);
    expect(await handleOf(input.id).result()).toBe('completed');
    expect(await (await executeFollowUp(world, input)).result()).toBe('completed');
    expect(await ledger(order)).toEqual(['sale 500 approved', 'refund 200 approved']);
    expect((await merchant.ledger(order.id))[1]).toMatchObject({ requests: 1 });
    expect(await moneySummaryOf(order)).toBe('500 captured, 200 refunded: refund completed');
  });
  test('the first answer: at once while the outcome is awaited; who comes after the end finds it ended', async () => {
    const order = await paid();
    const input = followUpOf(order.id, 'refund', { amount: 200 });
    await merchant.addFault({ kind: 'outage', operation: 'refund', order_id: order.id });
    const handle = await executeFollowUp(world, input);
    await handle.executeUpdate(firstAnswer);
    expect(await statusesOf(world, input.id)).toBe('processing: processing');
    await merchant.removeFaults();
    await tell(input.id);
    await becomes(input.id, 'completed: accepted');
    await until('its workflow is over', async () => (await handle.describe()).status.name === 'COMPLETED');
    await expect(handle.executeUpdate(firstAnswer)).rejects.toMatchObject({ name: 'WorkflowNotFoundError' });
  });
});

describe('refused before anything is stored', () => {
  test.each<[string, (order: TestOrder) => FollowUpInput, string]>([
    ['a refund of more than is left', ({ id }) => followUpOf(id, 'refund', { amount: 501 }), 'RefundError'],
    [
      'of a transaction that is not there',
      ({ id }) => followUpOf(id, 'refund', { original_transaction_id: uuidv7() }),
      'NotFound',
    ],
    [
      'too late',
      ({ id }) => followUpOf(id, 'refund', { amount: 100, not_after: Date.now() - 1 }),
      'ServiceUnavailable',
    ],
    ['at another version', ({ id }) => followUpOf(id, 'refund', { amount: 100, versions: [99] }), 'PreconditionFailed'],
  ])('%s: the update fails with the type, the workflow ends', async (_title, inputOf, type) => {
    const order = await paid();
    const input = inputOf(order);
    await expect(executeFollowUp(world, input).catch(refusalOf)).resolves.toBe(type);
    expect(await handleOf(input.id).result()).toBe('refused');
    expect(await statusesOf(world, input.id)).toBeUndefined();
    expect(await moneySummaryOf(order)).toBe('500 captured');
    expect(await ledger(order)).toEqual(['sale 500 approved']);
  });

  test('refused once, it may be asked for again under the same name', async () => {
    const order = await paid();
    const input = followUpOf(order.id, 'refund', { amount: 100 });
    await expect(executeFollowUp(world, { ...input, not_after: Date.now() - 1 }).catch(refusalOf)).resolves.toBe(
      'ServiceUnavailable',
    );
    expect(await handleOf(input.id).result()).toBe('refused');
    await executeFollowUp(world, input);
    expect(await moneySummaryOf(order)).toBe('500 captured, 100 refunded: refund completed');
  });
});

describe('operations that the processor initiated', () => {
  test('a chargeback is recorded once, however often it is notified', async () => {
    const order = await paid();
    const input = await ofTheProcessor(order, 'chargeback', 200);
    await Promise.all([executeFollowUp(world, input), executeFollowUp(world, input)]);
    expect(await handleOf(input.id).result()).toBe('completed');
    expect(await (await notifyFollowUp(world, input)).result()).toBe('completed');
    expect(await moneySummaryOf(order)).toBe('500 captured, 200 charged_back: chargeback completed');
    const shown = presentOrder((await findOrderView(world.database.db, input.id))!, 'http://shop.test');
    expect(shown).toMatchObject({ amount: 200, chargeback_of_order_id: order.id, flags: ['is-test', 'is-chargeback'] });
    expect(shown.transactions).toMatchObject([
      { transaction_type: 'chargeback', credit_debit: 'debit', status: 'accepted' },
    ]);
    expect(shown.transactions![0]!.events).toMatchObject([
      { event: 'new', source: 'processor' },
      { event: 'accepted', source: 'processor' },
    ]);
    await until('its webhook came', () => webhooksOf(input.id) === 1);
  });
  test('won back: a reversal of the payment, which brings the money back', async () => {
    const order = await paid();
    await notifyFollowUp(world, await ofTheProcessor(order, 'chargeback'));
    await expect(executeFollowUp(world, followUpOf(order.id, 'refund', { amount: 1 })).catch(refusalOf)).resolves.toBe(
      'RefundError',
    );
    const won = await ofTheProcessor(order, 'chargeback_reversal');
    await notifyFollowUp(world, won);
    expect(await moneySummaryOf(order)).toBe(
      '500 captured, 500 charged_back, 500 won_back: chargeback completed, reversal completed',
    );
    const shown = presentOrder((await findOrderView(world.database.db, won.id))!, 'http://shop.test');
    expect(shown).toMatchObject({
      reversal_of_order_id: order.id,
      transactions: [{ transaction_type: 'reversal', credit_debit: 'credit' }],
    });
    await executeFollowUp(world, followUpOf(order.id, 'refund', { amount: 500 }));
    expect(await ledger(order)).toContain('refund 500 approved');
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
    await createWorkflows({ client, db: world.database.db }).follow_ups.startOrPoll(input);
    // An unknown key is asked for again for hours (rules 10.9).
    expect(await handleOf(input.id).result()).toBe('refused');
    expect(await statusesOf(world, input.id)).toBeUndefined();
    expect(await moneySummaryOf(order)).toBe('500 captured');
  });

  test('while the processor does not say nothing is recorded, and it is asked again', async () => {
    const order = await paid();
    const input = await ofTheProcessor(order, 'chargeback');
    await merchant.addFault({ kind: 'outage', operation: 'ask', idempotency_key: input.processor_key, times: 2 });
    expect(await (await notifyFollowUp(world, input)).result()).toBe('completed');
    expect(await moneySummaryOf(order)).toBe('500 captured, 500 charged_back: chargeback completed');
  });
});

describe('a payment that was approved after its end', () => {
  test('notified twice: reversed once', async () => {
    const order = await cancelledAtTheIssuer();
    await answerAtIssuer(order, { code: '0101' });
    expect([await reverse(order), await reverse(order)]).toEqual(['completed', 'completed']);
    expect(await statusesOfOrder(order)).toBe('cancelled: cancelled');
    expect(await ledger(order)).toEqual(['sale 500 approved', 'reversal 500 approved']);
    expect((await order.view()).follow_ups).toHaveLength(1);
  });

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

  test('without a notification: polled 15 minutes after the end', async () => {
    const order = await cancelledAtTheIssuer();
    await answerAtIssuer(order, { code: '0101' });
    await world.env.sleep(14 * MINUTE);
    expect(await ledger(order)).toEqual(['sale 500 approved']);
    await world.env.sleep(2 * MINUTE);
    await until(
      'it is given back',
      async () => (await statusesOf(world, reversalOf(order).id)) === 'completed: accepted',
    );
    expect(await ledger(order)).toEqual(['sale 500 approved', 'reversal 500 approved']);
  });

  test('an authorization is given back too', async () => {
    const order = await createAnOrder(world, { card_number: CARDS.challenge.number, capture_mode: 'manual' });
    await order.cancel();
    await answerAtIssuer(order, { code: '0101' });
    expect(await reverse(order)).toBe('completed');
    expect(await ledger(order)).toEqual(['authorize 500 approved', 'reversal 500 approved']);
  });

  test('nothing was approved: nothing is given back', async () => {
    const order = await cancelledAtTheIssuer();
    await answerAtIssuer(order, { code: '3333' });
    expect(await reverse(order)).toBe('refused');
    expect((await order.view()).follow_ups).toEqual([]);
  });

  test('news that come before the approval leave room for those that come after', async () => {
    const order = await cancelledAtTheIssuer();
    await notifyFollowUp(world, reversalOf(order));
    expect((await order.view()).follow_ups).toEqual([]);
    await answerAtIssuer(order, { code: '0101' });
    expect(await reverse(order)).toBe('completed');
  });

  test('its workflow is lost while the processor answers nothing: what is recorded is settled by hand', async () => {
    const { order, order_id, ask } = await ready('reversal');
    await merchant.addFault({ kind: 'outage', operation: 'reversal', order_id: order.id });
    await merchant.addFault(unaskable(order, 'reversal', order_id));
    await ask();
    expect(await statusesOf(world, order_id)).toBe('processing: processing');
    const idempotency_key = chargeIdempotencyKey(transactionIdOf(order.id, 1));
    await merchant.addFault({ kind: 'outage', operation: 'ask', idempotency_key });
    await handleOf(order_id).terminate('lost');
    await ask();
    const transaction_id = transactionIdOf(order_id, 1);
    const settlement = { transaction_id, outcome: 'approved', reason: 'Bank statement', operator: 'Ada' } as const;
    await handleOf(order_id).executeUpdate(settleByHand, { args: [settlement] });
    expect(await statusesOf(world, order_id)).toBe('completed: accepted');
  });

  test('a payment that counts is never given back by this way', async () => {
    const order = await paid();
    expect(await reverse(order)).toBe('refused');
    expect(await ledger(order)).toEqual(['sale 500 approved']);
  });
});

test('rules 10.18: a sign about a refused refund is not forgotten when the processor does not answer', async () => {
  const order = await paid('refund_refused');
  const refund = followUpOf(order.id, 'refund', { amount: 100 });
  await executeFollowUp(world, refund);
  expect(await statusesOf(world, refund.id)).toBe('error: error');
  await handleOf(refund.id).result();
  await merchant.addFault(unaskable(order, 'refund', refund.id));
  const { follow_ups } = createWorkflows({ client: world.env.client, db: world.database.db });
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

describe('what an operator sees in the Web UI', () => {
  const details = async (order_id: string) =>
    ((await handleOf(order_id).query('__temporal_workflow_metadata')) as { currentDetails?: string }).currentDetails ??
    '';

  test('whose it is, what it follows, its status and what it waits for; nothing personal', async () => {
    const order = await paid();
    const input = followUpOf(order.id, 'refund', {
      amount: 200,
      description: 'For Ada Lovelace',
      extra: { email: 'ada@example.com' },
    });
    await merchant.addFault({ kind: 'outage', operation: 'refund', order_id: order.id });
    const handle = await executeFollowUp(world, input);
    const { typedSearchAttributes } = await handle.describe();
    expect(
      [ORDER_STATUS, PROJECT_ID, RELATED_ORDER_ID, ATTENTION].map((key) => typedSearchAttributes.get(key)),
    ).toEqual(['processing', PROJECT.id, order.id, undefined]);
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

  test('a chargeback of more than was captured asks for attention', async () => {
    const order = await paid();
    await executeFollowUp(world, followUpOf(order.id, 'refund', { amount: 500 }));
    const input = await ofTheProcessor(order, 'chargeback');
    const handle = await executeFollowUp(world, input);
    expect((await handle.describe()).typedSearchAttributes.get(ATTENTION)).toContain('beyond what was captured');
    expect(await details(input.id)).toContain('**Attention: ');
    expect(await moneySummaryOf(order)).toBe(
      '500 captured, 500 refunded, 500 charged_back: refund completed, chargeback completed',
    );
  });
});
