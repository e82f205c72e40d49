import { v7 as uuidv7 } from 'uuid';
import { reversalOrderId } from '../../src/ids';
import { insertOrder } from '../../src/db/orders';
import { FOLLOW_UP_WORKFLOW, ORDER_WORKFLOW, TASK_QUEUE, deliveryWorkflowId, followUpStart, orderWorkflowId, processorAnswered } from '../../workflows/messages';
import { CARDS } from './cards';
import { PROJECT } from './database';
import { MINUTE, atTheIssuer, createAnOrder, transactionIdOf, vaultToken } from './orders';
import type { Receiver } from './receiver';
import type { World } from './temporal';

/** Every way through a workflow, by name; each answers the id of the workflow that went it, which is over by then. */
export const FLOWS: Record<string, (world: World, receiver: Receiver) => Promise<string>> = {
  async 'order-paid-by-token'(world) {
    const order = await createAnOrder(world, { card_number: CARDS.approved.number });
    return await over(world, orderWorkflowId(order.id));
  },
  async 'order-declined-by-token'(world) {
    const order = await createAnOrder(world, { card_number: CARDS.do_not_honor.number });
    return await over(world, orderWorkflowId(order.id));
  },
  async 'order-declined-then-paid'(world) {
    const order = await createAnOrder(world);
    await order.pay(CARDS.do_not_honor.number, 1);
    await order.pay(CARDS.approved.number, 2);
    return await over(world, orderWorkflowId(order.id));
  },
  async 'order-declined-five-times'(world) {
    const order = await createAnOrder(world);
    for (let attempt = 1; attempt <= 5; attempt += 1) await order.pay(CARDS.do_not_honor.number, attempt);
    return await over(world, orderWorkflowId(order.id));
  },
  async 'order-announced-then-paid'(world) {
    const order = await createAnOrder(world, { transaction_period: 10 * MINUTE });
    await order.pay(CARDS.approved.number);
    return await over(world, orderWorkflowId(order.id));
  },
  async 'order-cancelled'(world) {
    const order = await createAnOrder(world, { transaction_period: 10 * MINUTE });
    await order.cancel();
    return await over(world, orderWorkflowId(order.id));
  },
  async 'order-cancelled-after-decline'(world) {
    const order = await createAnOrder(world);
    await order.pay(CARDS.do_not_honor.number);
    await order.cancel();
    return await over(world, orderWorkflowId(order.id));
  },
  async 'order-expired'(world) {
    const order = await createAnOrder(world, { transaction_period: 10 * MINUTE });
    return await over(world, orderWorkflowId(order.id));
  },
  async 'order-expired-after-decline'(world) {
    const order = await createAnOrder(world);
    await order.pay(CARDS.do_not_honor.number);
    return await over(world, orderWorkflowId(order.id));
  },
  async 'order-answer-lost'(world) {
    const order = await createAnOrder(world, { card_number: CARDS.lost_answer.number });
    return await over(world, orderWorkflowId(order.id));
  },
  async 'order-answer-never-came'(world) {
    const order = await createAnOrder(world, { card_number: CARDS.no_answer.number });
    return await over(world, orderWorkflowId(order.id));
  },
  async 'order-challenge-passed'(world) {
    const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
    await atTheIssuer(order, { code: '0101' });
    await order.handle.signal(processorAnswered);
    return await over(world, orderWorkflowId(order.id));
  },
  async 'order-challenge-never-finished'(world) {
    const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
    return await over(world, orderWorkflowId(order.id));
  },
  async 'order-came-too-late'(world) {
    const id = uuidv7();
    await createAnOrder(world, { id, card_number: CARDS.approved.number, input: { not_after: Date.now() - 1 } }).catch(() => undefined);
    return await over(world, orderWorkflowId(id));
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
    const fields = { id, project_id: PROJECT.id, currency: 'EUR', amount: 500, expiration_period: 'PT30M', attempts_max: 1 };
    await insertOrder(world.database.db, fields, transaction, { created: now, order_end: end, transaction_end: end });
    await startAlone(world, id);
    return await over(world, orderWorkflowId(id));
  },
  async 'order-creation-lost-unwritten'(world) {
    const id = uuidv7();
    await startAlone(world, id);
    return await over(world, orderWorkflowId(id));
  },
  async 'reversal-of-late-approval'(world) {
    return await reverse(world, '0101');
  },
  async 'reversal-of-nothing'(world) {
    return await reverse(world, '3333');
  },
  async 'delivery-received'(world, receiver) {
    return await deliver(world, receiver, () => 200);
  },
  async 'delivery-received-at-third'(world, receiver) {
    return await deliver(world, receiver, (n) => (n < 3 ? 500 : 200));
  },
  async 'delivery-failed'(world, receiver) {
    return await deliver(world, receiver, () => 500);
  },
};

async function startAlone({ env }: World, order_id: string): Promise<void> {
  await env.client.workflow.start(ORDER_WORKFLOW, { workflowId: orderWorkflowId(order_id), taskQueue: TASK_QUEUE, args: [{ order_id }] });
}

/** An order that was cancelled while its customer was at the issuer, who then enters this code. */
async function reverse(world: World, code: string): Promise<string> {
  const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
  await order.cancel();
  await atTheIssuer(order, { code });
  const original_transaction_id = transactionIdOf(order.id, 1);
  const order_id = reversalOrderId(original_transaction_id);
  const input = { order_id, project_id: PROJECT.id, kind: 'reversal', requested_by: 'service', original_order_id: order.id, original_transaction_id } as const;
  await world.env.client.workflow.start(FOLLOW_UP_WORKFLOW, followUpStart(input));
  return await over(world, orderWorkflowId(order_id));
}

async function deliver(world: World, receiver: Receiver, status: (n: number) => number): Promise<string> {
  receiver.received.splice(0);
  receiver.answer((response, n) => response.writeHead(status(n)).end());
  const { id } = await createAnOrder(world, { card_number: CARDS.approved.number });
  return await over(world, deliveryWorkflowId({ order_id: id, n: 1 }));
}

/** Lets time pass until the workflow is over. */
async function over({ env }: World, workflow_id: string): Promise<string> {
  await env.client.workflow.getHandle(workflow_id).result();
  return workflow_id;
}
