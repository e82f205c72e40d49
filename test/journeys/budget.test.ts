import { deliveryWorkflowId, orderWorkflowId } from '../../workflows/messages';
import { CARDS } from '../support/cards';
import { Merchant } from '../support/client';
import { eventsOf } from '../support/histories';
import { createAnOrder } from '../support/orders';
import { aReceiver, type Receiver } from '../support/receiver';
import { aWorld, type World } from '../support/temporal';

/** What an order may cost: every event is written and kept, every workflow task is a round trip somebody waits for. */
const shop = new Merchant();
const ANSWER = 'WORKFLOW_EXECUTION_UPDATE_COMPLETED';
const tasks = (events: string[]) => events.filter((name) => name === 'WORKFLOW_TASK_COMPLETED').length;

let receiver: Receiver;
beforeAll(async () => {
  receiver = await aReceiver();
});
afterAll(() => receiver.close());

test('a new order: 8 events and 1 workflow task to its answer', async () => {
  const { id } = await shop.createOrder();
  const events = await eventsOf(orderWorkflowId(id), { open: true });
  const toAnswer = events.slice(0, events.indexOf(ANSWER) + 1);
  expect(toAnswer).toContain(ANSWER);
  expect([toAnswer.length <= 8, tasks(toAnswer)]).toEqual([true, 1]);
});

test('an order that waits to be paid: nothing more than the timer of its end', async () => {
  const { id } = await shop.createOrder();
  const events = await eventsOf(orderWorkflowId(id), { open: true });
  expect(events.filter((name) => name.startsWith('TIMER_'))).toEqual(['TIMER_STARTED']);
  expect(events.length).toBeLessThanOrEqual(8);
});

test.each([
  ['approved', 'completed'],
  ['do_not_honor', 'error'],
] as const)('an order that is charged at once (%s): 10 events and 1 workflow task, from its creation to its close', async (card, status) => {
  const order = await shop.paidOrder(card);
  expect(order.status).toBe(status);
  const events = await eventsOf(orderWorkflowId(order.id));
  expect(events.at(-1)).toBe('WORKFLOW_EXECUTION_COMPLETED');
  expect([events.length <= 10, tasks(events)]).toEqual([true, 1]);
});

test('with a webhook to start: 1 event more, still 1 workflow task', async () => {
  const { id } = await shop.paidOrder('approved', { webhook_url: receiver.url });
  const events = await eventsOf(orderWorkflowId(id));
  expect([events.length <= 11, tasks(events)]).toEqual([true, 1]);
});

test('an order that expires: 2 workflow tasks, and nothing waits after its end', async () => {
  const { id } = await shop.createOrder({ expiration_period: 'PT1S' });
  const events = await eventsOf(orderWorkflowId(id));
  expect([events.filter((name) => name === 'TIMER_STARTED').length, tasks(events)]).toEqual([1, 2]);
});

test('a delivery that succeeds at once: 6 events and 1 workflow task', async () => {
  const { id } = await shop.paidOrder('approved', { webhook_url: receiver.url });
  const events = await eventsOf(deliveryWorkflowId({ order_id: id, n: 1 }));
  expect([events.length <= 6, tasks(events)]).toEqual([true, 1]);
});

describe('statements', () => {
  let world: World;
  beforeAll(async () => {
    world = await aWorld();
  });
  afterAll(() => world.close());
  const counted = async (work: () => Promise<unknown>) => {
    world.database.forget();
    await work();
    return world.database.statements.length;
  };

  test('an order is written with one, paid with two', async () => {
    // The first of all opens the connection.
    await createAnOrder(world);
    expect(await counted(() => createAnOrder(world))).toBe(1);
    expect(await counted(() => createAnOrder(world, { card_number: CARDS.approved.number }))).toBe(2);
    expect(await counted(() => createAnOrder(world, { card_number: CARDS.do_not_honor.number }))).toBe(2);
  });

  test('a payment on the page: one for the attempt, one for its outcome', async () => {
    const order = await createAnOrder(world);
    expect(await counted(() => order.pay(CARDS.do_not_honor.number, 1))).toBe(2);
    expect(await counted(() => order.pay(CARDS.approved.number, 2))).toBe(2);
  });

  test('the end of an order: one to see what is there, one to write it', async () => {
    const order = await createAnOrder(world);
    expect(await counted(() => order.cancel())).toBe(2);
  });
});
