import { v7 as uuidv7 } from 'uuid';
import { insertOrder } from '../../src/db/orders/insert-order';
import { processorOrderId, reversalOrderId } from '../../src/ids';
import { createWorkflows } from '../../src/temporal/workflows';
import {
  ORDER_WORKFLOW,
  SEARCH_INDEX_CHECK_WORKFLOW,
  SETTLEMENTS_WORKFLOW,
  TASK_QUEUE,
  deliveryWorkflowId,
  endPaymentLink,
  orderWorkflowId,
  pollNow,
  paymentLinkWorkflowId,
  processorAnswered,
  sandboxClockWorkflowId,
  settleByHand,
  type FollowUpInput,
} from '../../workflows/messages';
import { aLateRequest, aRequest } from './builders';
import { CARDS, type CardName } from './cards';
import { PROJECT } from './database';
import { requestOfOperator } from './deliveries';
import { Merchant } from './client';
import {
  BY_TOKEN,
  MINUTE,
  answerAtIssuer,
  executeFollowUp,
  createAnOrder,
  followUpOf,
  statusesOf,
  notifyFollowUp,
  becomesDue,
  transactionIdOf,
  vaultToken,
  type TestOrder,
} from './orders';
import { createALink } from './payment-links';
import type { Receiver } from './receiver';
import { postControl } from './simulator';
import { stack } from './stack';
import type { WorkflowEnvironment } from './temporal';
import { until } from './until';

/** Every way through a workflow, by name; each answers the id of the workflow that went it, which is over by then. */
export const FLOWS: Record<string, (world: WorkflowEnvironment, receiver: Receiver) => Promise<string>> = {
  async 'payment-link-declined-then-paid'(world) {
    const link = await createALink(world);
    await link.pay(CARDS.do_not_honor.number);
    await link.pay(CARDS.approved.number);
    return await untilClosed(world, paymentLinkWorkflowId(link.id));
  },
  async 'payment-link-challenge-unfinished-then-expired'(world) {
    const link = await createALink(world, { period: 40 * MINUTE });
    await link.pay(CARDS.challenge.number);
    return await untilClosed(world, paymentLinkWorkflowId(link.id));
  },
  async 'payment-link-ended-by-its-merchant'(world) {
    const link = await createALink(world);
    await link.handle.executeUpdate(endPaymentLink, { args: [{ request: aRequest() }] });
    return await untilClosed(world, paymentLinkWorkflowId(link.id));
  },
  async 'payment-link-continued-in-a-new-run'(world) {
    const link = await createALink(world);
    for (let attempt = 1; attempt <= 11; attempt += 1) await link.pay(CARDS.do_not_honor.number);
    return await untilClosed(world, paymentLinkWorkflowId(link.id));
  },
  async 'search-index-check'(world) {
    return await untilClosed(world, await startScheduled(world, SEARCH_INDEX_CHECK_WORKFLOW));
  },
  async settlements(world) {
    return await untilClosed(world, await startScheduled(world, SETTLEMENTS_WORKFLOW));
  },
  async 'order-paid-by-token'(world) {
    const order = await createAnOrder(world, { card_number: CARDS.approved.number });
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'order-declined-by-token'(world) {
    const order = await createAnOrder(world, { card_number: CARDS.do_not_honor.number });
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'order-declined-then-paid'(world) {
    const order = await createAnOrder(world);
    await order.pay(CARDS.do_not_honor.number, 1);
    await order.pay(CARDS.approved.number, 2);
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'order-declined-five-times'(world) {
    const order = await createAnOrder(world);
    for (let attempt = 1; attempt <= 5; attempt += 1) await order.pay(CARDS.do_not_honor.number, attempt);
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'order-announced-then-paid'(world) {
    const order = await createAnOrder(world, { transaction_period: 10 * MINUTE });
    await order.pay(CARDS.approved.number);
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'order-cancelled'(world) {
    const order = await createAnOrder(world, { transaction_period: 10 * MINUTE });
    await order.cancel();
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'order-cancelled-after-decline'(world) {
    const order = await createAnOrder(world);
    await order.pay(CARDS.do_not_honor.number);
    await order.cancel();
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'order-expired'(world) {
    const order = await createAnOrder(world, { transaction_period: 10 * MINUTE });
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'order-expired-after-decline'(world) {
    const order = await createAnOrder(world);
    await order.pay(CARDS.do_not_honor.number);
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'order-answer-lost'(world) {
    const order = await createAnOrder(world, { card_number: CARDS.lost_answer.number });
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'order-answer-never-came'(world) {
    const order = await createAnOrder(world, { card_number: CARDS.no_answer.number });
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'order-challenge-passed'(world) {
    const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
    await answerAtIssuer(order, { code: '0101' });
    await order.handle.signal(processorAnswered);
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'order-challenge-never-finished'(world) {
    const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'order-came-too-late'(world) {
    const id = uuidv7();
    const input = { request: aLateRequest() };
    await createAnOrder(world, { id, card_number: CARDS.approved.number, input }).catch(() => undefined);
    return await untilClosed(world, orderWorkflowId(id));
  },
  /** The request died with the servers after its order was written: the record is all there is. */
  async 'order-creation-lost'(world) {
    const id = uuidv7();
    const now = await world.now();
    const transaction = {
      id: transactionIdOf(id, 1),
      attempt: 1,
      payment_method: 'credit-card',
      payment_method_details: { vault_token: await vaultToken(world, CARDS.approved.number) },
      expiration_period: 'PT30M',
    };
    const end = now + 30 * MINUTE;
    const fields = {
      id,
      project_id: PROJECT.id,
      currency: 'EUR',
      amount: 500,
      expiration_period: 'PT30M',
      ...BY_TOKEN,
    };
    await insertOrder(world.database.db, fields, transaction, {
      created: now,
      expires_at: end,
      transaction_expires_at: end,
      request: aRequest(),
    });
    await startAlone(world, id);
    return await untilClosed(world, orderWorkflowId(id));
  },
  async 'order-creation-lost-unwritten'(world) {
    const id = uuidv7();
    await startAlone(world, id);
    return await untilClosed(world, orderWorkflowId(id));
  },
  async 'order-polled-by-an-operator'(world) {
    const order = await createAnOrder(world, { card_number: CARDS.processing_approved.number });
    await becomesDue(order);
    await order.handle.executeUpdate(pollNow);
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'order-settled-as-approved'(world) {
    const order = await createAnOrder(world, { card_number: CARDS.processing_approved.number });
    await settle(world, order.id, 'approved');
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'order-settled-as-declined'(world) {
    const order = await createAnOrder(world, { card_number: CARDS.processing_declined.number });
    await settle(world, order.id, 'declined');
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'refund-settled-as-declined'(world) {
    const input = followUpOf((await paid(world, 'refund_processing')).id, 'refund', { amount: 200 });
    await executeFollowUp(world, input);
    await settle(world, input.id, 'declined');
    return await untilClosed(world, orderWorkflowId(input.id));
  },
  async 'authorization-captured'(world) {
    const order = await authorize(world);
    await order.follow('capture', 300);
    await order.follow('capture');
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'authorization-voided'(world) {
    const order = await authorize(world);
    await order.follow('void', 200);
    await order.follow('void');
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'authorization-captured-then-lapsed'(world) {
    const order = await authorize(world);
    await order.follow('capture', 300);
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'authorization-lapsed'(world) {
    return await untilClosed(world, orderWorkflowId((await authorize(world)).id));
  },
  async 'authorization-delayed'(world) {
    const order = await authorize(world, 'delayed');
    await order.follow('void', 200);
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'authorization-delayed-refused'(world) {
    return await untilClosed(world, orderWorkflowId((await authorize(world, 'delayed', 'capture_refused')).id));
  },
  async 'authorization-refused-after-its-window'(world) {
    const order = await authorize(world, 'manual', 'capture_refused', 'PT1M');
    const capture = await requestDuringOutage(order, 'capture', () => order.follow('capture', 300));
    await world.env.sleep(2 * MINUTE);
    await endOutage(world, capture);
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'authorization-lost-and-found'(world) {
    const order = await authorize(world);
    await order.handle.terminate('lost');
    await order.follow('capture');
    return await untilClosed(world, orderWorkflowId(order.id));
  },
  async 'capture-approved'(world) {
    const order = await authorize(world);
    return await untilClosed(world, orderWorkflowId(await order.follow('capture')));
  },
  async 'capture-refused'(world) {
    const order = await authorize(world, 'manual', 'capture_refused');
    return await untilClosed(world, orderWorkflowId(await order.follow('capture')));
  },
  async 'capture-later'(world) {
    const order = await authorize(world);
    const capture = await requestDuringOutage(order, 'capture', () => order.follow('capture'));
    return await endOutage(world, capture);
  },
  async 'void-approved'(world) {
    const order = await authorize(world);
    return await untilClosed(world, orderWorkflowId(await order.follow('void')));
  },
  async 'void-later'(world) {
    const order = await authorize(world);
    return await endOutage(world, await requestDuringOutage(order, 'void', () => order.follow('void')));
  },
  async 'refund-approved'(world) {
    return await executedFollowUp(world, followUpOf((await paid(world)).id, 'refund', { amount: 200 }));
  },
  async 'refund-refused-by-the-processor'(world) {
    return await executedFollowUp(
      world,
      followUpOf((await paid(world, 'refund_refused')).id, 'refund', { amount: 200 }),
    );
  },
  async 'refund-refused'(world) {
    return await executedFollowUp(world, followUpOf((await paid(world)).id, 'refund', { amount: 501 }));
  },
  async 'refund-later'(world) {
    const order = await paid(world);
    const input = followUpOf(order.id, 'refund', { amount: 200 });
    return await endOutage(
      world,
      await requestDuringOutage(order, 'refund', async () => (await executeFollowUp(world, input), input.id)),
    );
  },
  async chargeback(world) {
    return await notifiedFollowUp(world, await ofTheProcessor(await paid(world), 'chargeback', 200));
  },
  async 'chargeback-beyond-what-was-captured'(world) {
    const order = await paid(world);
    await executedFollowUp(world, followUpOf(order.id, 'refund', { amount: 500 }));
    return await notifiedFollowUp(world, await ofTheProcessor(order, 'chargeback', 500));
  },
  async 'chargeback-unknown'(world) {
    const { id } = await paid(world);
    const processor_key = `${transactionIdOf(id, 1)}:forged`;
    return await notifiedFollowUp(
      world,
      followUpOf(id, 'chargeback', {
        id: processorOrderId(transactionIdOf(id, 1), processor_key),
        requested_by: 'processor',
        processor_key,
      }),
    );
  },
  async 'reversal-of-chargeback'(world) {
    const order = await paid(world);
    await notifiedFollowUp(world, await ofTheProcessor(order, 'chargeback', 500));
    return await notifiedFollowUp(world, await ofTheProcessor(order, 'chargeback_reversal', 500));
  },
  async 'order-cancelled-at-the-issuer'(world) {
    return await untilClosed(world, orderWorkflowId((await cancelledAtTheIssuer(world, '3333')).id));
  },
  async 'reversal-asked-for-after-the-end'(world) {
    return await untilClosed(world, orderWorkflowId(reversalOf(await cancelledAtTheIssuer(world, '0101')).id));
  },
  async 'reversal-of-late-approval'(world) {
    return await notifiedFollowUp(world, reversalOf(await cancelledAtTheIssuer(world, '0101')));
  },
  async 'reversal-of-late-approval-later'(world) {
    const order = await cancelledAtTheIssuer(world, '0101');
    const input = reversalOf(order);
    return await endOutage(
      world,
      await requestDuringOutage(order, 'reversal', async () => (await notifyFollowUp(world, input), input.id)),
    );
  },
  async 'reversal-of-nothing'(world) {
    return await notifiedFollowUp(world, reversalOf(await cancelledAtTheIssuer(world, '3333')));
  },
  async 'delivery-received'(world, receiver) {
    return await deliver(world, receiver, () => 200);
  },
  async 'delivery-received-at-third'(world, receiver) {
    return await deliver(world, receiver, (n) => (n < 3 ? 500 : 200));
  },
  async 'delivery-paused-resumed-and-delivered-now'(world, receiver) {
    receiver.received.splice(0);
    receiver.answer((response, n) => response.writeHead(n < 3 ? 500 : 200).end());
    const { id: order_id } = await createAnOrder(world, { card_number: CARDS.approved.number });
    const { db } = world.database;
    const { deliveries } = createWorkflows({ client: world.env.client, db });
    const failed = async (times: number) =>
      await until('attempts failed', async () => (await db('webhook_attempts').where({ order_id })).length === times);
    const request = (operation: Parameters<typeof requestOfOperator>[2]) =>
      requestOfOperator({ db, deliveries }, { order_id, n: 1 }, operation);
    await failed(1);
    await request('pauseDelivery');
    await world.env.sleep(10 * MINUTE);
    await request('resumeDelivery');
    await failed(2);
    await request('deliverNow');
    return await untilClosed(world, deliveryWorkflowId({ order_id, n: 1 }));
  },
  async 'delivery-failed'(world, receiver) {
    return await deliver(world, receiver, () => 500);
  },
  async 'order-expired-by-sandbox-clock'(world) {
    return orderWorkflowId(await movedOrder(world, await createAnOrder(world)));
  },
  async 'authorization-lapsed-by-sandbox-clock'(world) {
    return await untilClosed(world, orderWorkflowId(await movedOrder(world, await authorize(world))));
  },
  async 'reversal-asked-for-by-sandbox-clock'(world) {
    const order = await cancelledAtTheIssuer(world, '0101');
    await movedOrder(world, order);
    return await untilClosed(world, orderWorkflowId(reversalOf(order).id));
  },
  async 'payment-link-expired-by-sandbox-clock'(world) {
    const { id } = await createALink(world, { period: 30 * MINUTE });
    const { sandbox_clocks } = createWorkflows({ client: world.env.client, db: world.database.db });
    await sandbox_clocks.movePaymentLink({ id, project_id: PROJECT.id }, anHour(), aRequest());
    return await untilClosed(world, paymentLinkWorkflowId(id));
  },
  async 'delivery-failed-by-sandbox-clock'(world, receiver) {
    receiver.answer((response) => response.writeHead(500).end());
    const order = await createAnOrder(world, { card_number: CARDS.approved.number });
    await movedOrder(world, order);
    return await untilClosed(world, deliveryWorkflowId({ order_id: order.id, n: 1 }));
  },
  async 'sandbox-clock'(world) {
    const id = await movedOrder(world, await createAnOrder(world));
    return await untilClosed(world, sandboxClockWorkflowId(id));
  },
};

const anHour = () => ({ request_id: uuidv7(), move: { advance_ms: 60 * MINUTE } });

/** Moves the clock of an order by an hour, which is longer than it lasts. Returns its id. */
async function movedOrder({ env, database }: WorkflowEnvironment, { id }: TestOrder): Promise<string> {
  const { sandbox_clocks } = createWorkflows({ client: env.client, db: database.db });
  await sandbox_clocks.moveOrder({ id, project_id: PROJECT.id }, anHour(), aRequest());
  return id;
}

const settle = (world: WorkflowEnvironment, order_id: string, outcome: 'approved' | 'declined') =>
  world.env.client.workflow.getHandle(orderWorkflowId(order_id)).executeUpdate(settleByHand, {
    args: [{ transaction_id: transactionIdOf(order_id, 1), outcome, reason: 'Bank statement', operator: 'Ada' }],
  });

async function startAlone({ env }: WorkflowEnvironment, order_id: string): Promise<void> {
  await env.client.workflow.start(ORDER_WORKFLOW, {
    workflowId: orderWorkflowId(order_id),
    taskQueue: TASK_QUEUE,
    args: [{ order_id }],
  });
}

const paid = (world: WorkflowEnvironment, card: CardName = 'approved') =>
  createAnOrder(world, { card_number: CARDS[card].number });

const authorize = (
  world: WorkflowEnvironment,
  capture_mode: 'manual' | 'delayed' = 'manual',
  card: CardName = 'approved',
  capture_period = 'PT1H',
) => createAnOrder(world, { card_number: CARDS[card].number, capture_mode, capture_period });

/** An order that was cancelled while its customer was at the issuer, who then enters this code. */
async function cancelledAtTheIssuer(world: WorkflowEnvironment, code: string): Promise<TestOrder> {
  const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
  await order.cancel();
  await answerAtIssuer(order, { code });
  return order;
}

const reversalOf = ({ id }: TestOrder) =>
  followUpOf(id, 'reversal', { id: reversalOrderId(transactionIdOf(id, 1)), requested_by: 'service' });

/** The processor's own doing, as its notification tells it: what is to be recorded. */
async function ofTheProcessor(
  { id }: TestOrder,
  operation: 'chargeback' | 'chargeback_reversal',
  amount: number,
): Promise<FollowUpInput> {
  const transaction_id = transactionIdOf(id, 1);
  const response = await postControl(stack(), 'chargebacks', { transaction_id, operation, amount });
  const { idempotency_key: processor_key } = (await response.json()) as { idempotency_key: string };
  const order_id = processorOrderId(transaction_id, processor_key);
  return followUpOf(id, operation === 'chargeback' ? 'chargeback' : 'reversal', {
    id: order_id,
    requested_by: 'processor',
    processor_key,
  });
}

/** Starts a workflow as a schedule does; answers its id. */
async function startScheduled({ env }: WorkflowEnvironment, workflow: string): Promise<string> {
  return (await env.client.workflow.start(workflow, { workflowId: workflow, taskQueue: TASK_QUEUE })).workflowId;
}

/** Starts a follow-up order's workflow, which may refuse it, and waits until it is over. */
async function executedFollowUp(world: WorkflowEnvironment, input: FollowUpInput): Promise<string> {
  await executeFollowUp(world, input).catch(() => undefined);
  return await untilClosed(world, orderWorkflowId(input.id));
}

/** As carriedOut, of news the processor tells. */
async function notifiedFollowUp(world: WorkflowEnvironment, input: FollowUpInput): Promise<string> {
  await notifyFollowUp(world, input);
  return await untilClosed(world, orderWorkflowId(input.id));
}

/** The client that adds faults ends them; there is no stack yet when this file is read. */
let merchant: Merchant | undefined;

/** Asks for it while the processor is away. */
async function requestDuringOutage(
  order: TestOrder,
  operation: 'capture' | 'void' | 'refund' | 'reversal',
  ask: () => Promise<string>,
): Promise<string> {
  merchant ??= new Merchant();
  await merchant.addFault({ kind: 'outage', operation, order_id: order.id });
  return await ask();
}

/** The processor is back and tells what became of it. */
async function endOutage(world: WorkflowEnvironment, order_id: string): Promise<string> {
  await merchant?.removeFaults();
  const handle = world.env.client.workflow.getHandle(orderWorkflowId(order_id));
  await handle.signal(processorAnswered);
  // In real time: while an activity runs, the server's clock must not.
  await until('its outcome is known', async () => /^(completed|error)/.test((await statusesOf(world, order_id)) ?? ''));
  return await untilClosed(world, orderWorkflowId(order_id));
}

async function deliver(world: WorkflowEnvironment, receiver: Receiver, status: (n: number) => number): Promise<string> {
  receiver.received.splice(0);
  receiver.answer((response, n) => response.writeHead(status(n)).end());
  const { id } = await createAnOrder(world, { card_number: CARDS.approved.number });
  return await untilClosed(world, deliveryWorkflowId({ order_id: id, n: 1 }));
}

/** Lets time pass until the workflow is over. */
async function untilClosed({ env }: WorkflowEnvironment, workflow_id: string): Promise<string> {
  await env.client.workflow.getHandle(workflow_id).result();
  return workflow_id;
}
