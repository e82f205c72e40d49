import type { LedgerEntry } from '../../src/processor/wire';
import { findOrderView } from '../../src/db/order-view';
import { presentOrder } from '../../api/present';
import { orderSchema } from '../../src/contract/order';
import { REVERSAL_WORKFLOW, TASK_QUEUE, deliveryWorkflowId, processorAnswered, reversalWorkflowId } from '../../workflows/messages';
import { createProcessor, type Processor } from '../../src/processor/client';
import { CARDS } from '../support/cards';
import { atTheIssuer, createAnOrder, story, transactionIdOf, type TestOrder } from '../support/orders';
import { aReceiver, type Receiver } from '../support/receiver';
import { stack } from '../support/stack';
import { aWorld, type World } from '../support/temporal';
import { until } from '../support/until';

let world: World;
let receiver: Receiver;
/** What happens between the processor's answer and what the service makes of it. */
let afterAsking: () => Promise<void> = () => Promise.resolve();
afterEach(() => {
  afterAsking = () => Promise.resolve();
});
beforeAll(async () => {
  receiver = await aReceiver();
  const processor = createProcessor({ url: stack().simulator_url, key: stack().processor_key, timeout_ms: 2_000 });
  const asked: Processor = {
    ...processor,
    async ask(key) {
      const answer = await processor.ask(key);
      await afterAsking();
      return answer;
    },
  };
  world = await aWorld({ webhook_url: receiver.url, services: { processor: asked } });
});
afterAll(async () => {
  await world.close();
  await receiver.close();
});

/** Cancelled while the customer is at the issuer, where the challenge stays open. */
async function cancelledAtTheIssuer(): Promise<TestOrder> {
  const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
  await order.cancel();
  expect(await story(order)).toBe('cancelled: cancelled');
  return order;
}

const reverse = (order: TestOrder) =>
  world.env.client.workflow.execute(REVERSAL_WORKFLOW, {
    workflowId: reversalWorkflowId(transactionIdOf(order.id, 1)),
    taskQueue: TASK_QUEUE,
    args: [{ transaction_id: transactionIdOf(order.id, 1) }],
  }) as Promise<string>;

async function ledger(order: TestOrder): Promise<string[]> {
  const response = await fetch(`${stack().simulator_url}/ledger/?order_id=${order.id}`);
  return ((await response.json()) as LedgerEntry[]).map(({ operation, result, amount }) => `${operation} ${amount} ${result}`);
}

test('late approval: the transaction stays cancelled, the money goes back, and a reversal order tells it', async () => {
  const order = await cancelledAtTheIssuer();
  await atTheIssuer(order, { code: '0101' });
  expect(await reverse(order)).toBe('completed');

  const original = await order.view();
  expect(await story(order)).toBe('cancelled: cancelled');
  expect(await ledger(order)).toEqual(['sale 500 approved', 'reversal 500 approved']);
  const [{ id } = { id: '' }] = original.follow_ups;
  const shown = presentOrder((await findOrderView(world.database.db, id))!, 'http://shop.test');
  expect(orderSchema.parse(shown)).toEqual(shown);
  expect(shown).toMatchObject({ status: 'completed', amount: 500, reversal_of_order_id: order.id, related_order_id: order.id, flags: ['is-test', 'is-reversal'] });
  expect(shown.transactions).toMatchObject([{ transaction_type: 'reversal', credit_debit: 'debit', status: 'accepted' }]);
  for (const absent of ['order_url', 'expiration_period']) expect(shown).not.toHaveProperty(absent);
  expect(presentOrder(original, 'http://shop.test')).toMatchObject({ reversal_orders: [id], related_orders: [id], flags: ['is-test', 'has-reversals'] });
  expect(await world.env.client.workflow.getHandle(deliveryWorkflowId({ order_id: id, n: 1 })).result()).toBe('delivered');
});

test('told twice: given back once', async () => {
  const order = await cancelledAtTheIssuer();
  await atTheIssuer(order, { code: '0101' });
  expect([await reverse(order), await reverse(order)]).toEqual(['completed', 'completed']);
  expect(await ledger(order)).toEqual(['sale 500 approved', 'reversal 500 approved']);
  expect((await order.view()).follow_ups).toHaveLength(1);
});

test('approved in the very moment the order is cancelled, and told while it ends: given back all the same', async () => {
  const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
  afterAsking = async () => {
    afterAsking = () => Promise.resolve();
    await atTheIssuer(order, { code: '0101' });
    await order.handle.signal(processorAnswered);
  };
  await order.cancel();
  expect(await story(order)).toBe('cancelled: cancelled');
  await until('it is given back', async () => (await ledger(order)).length === 2);
  expect(await ledger(order)).toEqual(['sale 500 approved', 'reversal 500 approved']);
  await until('the record says so', async () => (await order.view()).follow_ups[0]?.status === 'completed');
});

test('nothing was approved: nothing is given back', async () => {
  const order = await cancelledAtTheIssuer();
  await atTheIssuer(order, { code: '3333' });
  expect(await reverse(order)).toBe('nothing to give back');
  expect((await order.view()).follow_ups).toEqual([]);
});

test('a payment that counts is never given back by this way', async () => {
  const order = await createAnOrder(world, { card_number: CARDS.approved.number });
  expect(await reverse(order)).toBe('nothing to give back');
  expect(await ledger(order)).toEqual(['sale 500 approved']);
});
