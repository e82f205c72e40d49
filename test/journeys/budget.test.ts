import { actionsIn, eventNamesOf, workflowTasksIn } from '../../src/bench/history';
import type { Order } from '../../src/client';
import { deliveryWorkflowId, orderWorkflowId, paymentLinkWorkflowId } from '../../workflows/messages';
import { CARD, Client } from '../support/customer';
import { CARDS } from '../support/domain';
import { Merchant } from '../support/merchant';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { createWorkflowEnvironment } from '../support/temporal';
import { stack, type RunningStack } from '../support/stack';
import { withTemporal } from '../support/temporal-client';
import { until } from '../support/waits';
import { createALink, createAnOrder, startFollowUp, followUpOf, type TestOrder } from '../support/workflow-orders';

/** What an order may cost: every event is written and kept, every workflow task is a round trip somebody waits for. */
const merchant = new Merchant();
const ANSWER = 'WORKFLOW_EXECUTION_UPDATE_COMPLETED';

const receiver = setUp(startReceiver);

test('a new order: 8 events and 1 workflow task to its answer', async () => {
  const { id } = await merchant.createOrder();
  const events = await eventsOf(orderWorkflowId(id), { open: true });
  const toAnswer = events.slice(0, events.indexOf(ANSWER) + 1);
  expect(toAnswer).toContain(ANSWER);
  expect([toAnswer.length <= 8, workflowTasksIn(toAnswer)]).toEqual([true, 1]);
});

test('an order that waits to be paid: nothing more than the timer of its end', async () => {
  const { id } = await merchant.createOrder();
  const events = await eventsOf(orderWorkflowId(id), { open: true });
  expect(events.filter((name) => name.startsWith('TIMER_'))).toEqual(['TIMER_STARTED']);
  expect(events.length).toBeLessThanOrEqual(8);
});

test.each([
  ['approved', 'completed'],
  ['do_not_honor', 'error'],
] as const)(
  'an order that is charged at once (%s): 10 events, 1 workflow task and 4 actions, from its creation to its close',
  async (card, status) => {
    const order = await merchant.paidOrder(card);
    expect(order.status).toBe(status);
    const events = await eventsOf(orderWorkflowId(order.id));
    expect(events.at(-1)).toBe('WORKFLOW_EXECUTION_COMPLETED');
    expect([events.length <= 10, workflowTasksIn(events), actionsIn(events)]).toEqual([true, 1, 4]);
  },
);

test('a payment through a link: 10 events and 1 workflow task of its order, 7 and 1 of the link, to the close of both', async () => {
  const link = await merchant.createPaymentLink();
  const { pathname } = new URL(link.payment_url);
  const created = await until('it waits for its end', async () => {
    const events = await eventsOf(paymentLinkWorkflowId(link.id), { open: true });
    return events.includes('TIMER_STARTED') && events;
  });
  const customer = new Client();
  await customer.postForm(pathname, { ...CARD, ...(await customer.openPage({ id: '' }, pathname)) });
  const { completed_order_id } = await merchant.getPaymentLink(link.id);
  const of_order = await eventsOf(orderWorkflowId(completed_order_id!));
  expect([of_order.length <= 10, workflowTasksIn(of_order)]).toEqual([true, 1]);
  const of_link = (await eventsOf(paymentLinkWorkflowId(link.id))).slice(created.length);
  expect(of_link.at(-1)).toBe('WORKFLOW_EXECUTION_COMPLETED');
  expect([of_link.length <= 7, workflowTasksIn(of_link)]).toEqual([true, 1]);
});

test('with a webhook to start: 1 event more, still 1 workflow task', async () => {
  const { id } = await merchant.paidOrder('approved', { webhook_url: receiver.url });
  const events = await eventsOf(orderWorkflowId(id));
  expect([events.length <= 11, workflowTasksIn(events)]).toEqual([true, 1]);
});

test('an order that expires: 2 workflow tasks, and nothing waits after its end', async () => {
  const { id } = await merchant.createOrder({ expiration_period: 'PT1S' });
  const events = await eventsOf(orderWorkflowId(id));
  expect([events.filter((name) => name === 'TIMER_STARTED').length, workflowTasksIn(events)]).toEqual([1, 2]);
});

test('a delivery that succeeds at once: 6 events and 1 workflow task', async () => {
  const { id } = await merchant.paidOrder('approved', { webhook_url: receiver.url });
  const events = await eventsOf(deliveryWorkflowId({ order_id: id, n: 1 }));
  expect([events.length <= 6, workflowTasksIn(events)]).toEqual([true, 1]);
});

test('rules 24.16: without traces no event of an order or its webhook has a header', async () => {
  const { id } = await merchant.paidOrder('approved', { webhook_url: receiver.url });
  for (const workflow_id of [orderWorkflowId(id), deliveryWorkflowId({ order_id: id, n: 1 })]) {
    await eventsOf(workflow_id);
    const { events } = await withTemporal(stack(), ({ workflow }) => workflow.getHandle(workflow_id).fetchHistory());
    expect(JSON.stringify(events)).not.toMatch(/traceparent|request-id/);
  }
});

describe('what follows a payment', () => {
  const post = async (path: string, body?: unknown) =>
    (await merchant.send<Order>('POST', `/v1/orders/${path}`, body === undefined ? {} : { body })).body;

  test('a refund: 9 events and 1 workflow task, with a webhook 10 and 1', async () => {
    for (const [webhook_url, length] of [
      [undefined, 9],
      [receiver.url, 10],
    ] as const) {
      const { id } = await merchant.paidOrder('approved', webhook_url === undefined ? {} : { webhook_url });
      const refund = await post(`${id}/refunds/`, { amount: 100 });
      expect(refund.status).toBe('completed');
      const events = await eventsOf(orderWorkflowId(refund.id));
      expect([events.length <= length, workflowTasksIn(events)]).toEqual([true, 1]);
    }
  });

  test('a capture: 7 to 10 events and 1 workflow task of its own, 11 and 2 of the order that holds the money; one timer for the whole window', async () => {
    const order = await merchant.createOrder({
      transactions: [{ ...(await merchant.cardTransaction('approved')), capture_mode: 'manual' }],
    });
    const path = `${order.id}/transactions/${order.transactions![0]!.id}/captures/`;
    const held = await until('it waits for the end of its window', async () => {
      const events = await eventsOf(orderWorkflowId(order.id), { open: true });
      return events.includes('TIMER_STARTED') && events;
    });
    // As any payment that is charged at once, and the timer of its window.
    expect([held.length <= 10, workflowTasksIn(held)]).toEqual([true, 1]);
    const captures = [await post(`${path}amount/`, { amount: 100, description: 'A part' }), await post(path)];
    for (const capture of captures) {
      expect(capture.status).toBe('completed');
      const events = await eventsOf(orderWorkflowId(capture.id));
      // The first answer is asked for before its end, or comes too late to be asked for.
      expect([events.length <= 10, workflowTasksIn(events)]).toEqual([true, 1]);
    }
    const events = await eventsOf(orderWorkflowId(order.id));
    expect(events.filter((name) => name.startsWith('TIMER_'))).toEqual(['TIMER_STARTED']);
    expect([events.length - held.length <= 2 * 11 + 1, workflowTasksIn(events) - 1 <= 2 * 2]).toEqual([true, true]);
  });
});

describe('statements', () => {
  const world = setUp(() => createWorkflowEnvironment({ namespace: 'statements' }));
  const counted = async (work: () => Promise<unknown>) => {
    world.database.forget();
    await work();
    return world.database.statements.length;
  };

  test('an order is written with one, paid with two', async () => {
    // The first of all opens the connection. None stays open: time that passes later would let it expire.
    await (await createAnOrder(world)).cancel();
    let order!: TestOrder;
    expect(await counted(async () => (order = await createAnOrder(world)))).toBe(1);
    await order.cancel();
    expect(await counted(() => createAnOrder(world, { card_number: CARDS.approved.number }))).toBe(2);
    expect(await counted(() => createAnOrder(world, { card_number: CARDS.do_not_honor.number }))).toBe(2);
  });

  test('a payment on the page: one for the attempt, one for its outcome, one for the answer', async () => {
    const order = await createAnOrder(world);
    expect(await counted(() => order.pay(CARDS.do_not_honor.number, 1))).toBe(3);
    expect(await counted(() => order.pay(CARDS.approved.number, 2))).toBe(3);
  });

  test('a payment through a link: one for its order and the link, one for the outcome of both, one for the answer', async () => {
    const link = await createALink(world);
    const statements = await counted(async () => {
      await link.pay(CARDS.approved.number);
      await link.handle.result();
    });
    // The helper loads the link first, as the page does. The link's workflow reads its record once.
    expect(statements - 2).toBe(3);
  });

  test('a refund: 16, of them two SQL transactions that hold the payment', async () => {
    const order = await createAnOrder(world, { card_number: CARDS.approved.number });
    expect(await counted(() => startFollowUp(world, followUpOf(order.id, 'refund', { amount: 100 })))).toBe(16);
    expect(world.database.statements.filter((sql) => sql.startsWith('BEGIN'))).toHaveLength(2);
  });

  test('a capture: 19, of them four that write, in two SQL transactions that hold the payment', async () => {
    const order = await createAnOrder(world, { card_number: CARDS.approved.number, capture_mode: 'manual' });
    const statements = await counted(async () => {
      await order.follow('capture');
      // Not by its result: that would let the time of the other tests' orders pass.
      await until('nothing is held any more', async () => (await order.handle.describe()).status.name === 'COMPLETED');
    });
    // The first answer is asked for in the moment it ends: the test server then has that task done again, which only
    // reads.
    expect([statements >= 19, statements <= 23]).toEqual([true, true]);
    const writes = world.database.statements.filter((sql) => /^\s*(with|update)/.test(sql));
    expect([writes.length, world.database.statements.filter((sql) => sql.startsWith('BEGIN')).length]).toEqual([4, 2]);
  });

  test('the end of an order: one to see what is there, one to write it', async () => {
    const order = await createAnOrder(world);
    expect(await counted(() => order.cancel())).toBe(2);
  });
});

/** Names of the events of a workflow on the run's stack, oldest first, once it has closed; `open`: as they are now. */
async function eventsOf(
  workflow_id: string,
  { open = false, place = stack() }: { open?: boolean; place?: RunningStack } = {},
): Promise<string[]> {
  return await withTemporal(place, async (client) => {
    if (!open) await client.workflow.getHandle(workflow_id).result();
    return await eventNamesOf(client, workflow_id);
  });
}
