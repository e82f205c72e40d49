import type { DeliveryAnswer } from '../../src/contract/delivery';
import { deliveryWorkflowId } from '../../workflows/messages';
import { CARD, Client } from '../support/customer';
import { CARDS } from '../support/domain';
import { webhookOf } from '../support/merchant';
import { createTestProject } from '../support/operator';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { stack } from '../support/stack';
import { withTemporal } from '../support/temporal-client';
import { until } from '../support/waits';

/** Webhooks as the merchant's server gets them, from the order to the signature. */
const receiver = setUp(startReceiver);
const project = setUp(() => createTestProject({ webhook_url: receiver.url }));
// Longer than two webhooks may take that a busy machine took too late: each is sent again after two minutes.
jest.setTimeout(330_000);
beforeEach(() => {
  receiver.received.splice(0);
  receiver.answer((response) => response.writeHead(200).end());
});

const deliveriesOf = async (id: string) =>
  (await project.merchant.send<DeliveryAnswer[]>('GET', `/v1/orders/${id}/webhooks/`)).body;
const told = () => receiver.received.map(({ path, body }) => ({ path, order_id: webhookOf(body).order_id }));

/** Deliveries go out in the order of what caused them, so that a second one for the order would have come by now. */
async function anotherOrderIsTold(): Promise<string> {
  const { id } = await project.merchant.paidOrder('approved');
  await until('its webhook', () => told().some(({ order_id }) => order_id === id), 150_000);
  return id;
}

test('rules 13.1 and 13.2: a sale approved at once sends exactly one, to the URL of the project', async () => {
  const { id } = await project.merchant.paidOrder('approved');
  await receiver.waitFor(1);
  expect(webhookOf(receiver.received[0]!.body)).toEqual({
    event: 'status_changed',
    order_id: id,
    project_id: project.id,
  });
  const other = await anotherOrderIsTold();
  expect(told()).toEqual([
    { path: '/hook', order_id: id },
    { path: '/hook', order_id: other },
  ]);
  // A second one would be there, however late it is sent.
  expect(await deliveriesOf(id)).toHaveLength(1);
});

test('its first task came to the worker with the answer to its start', async () => {
  const { id } = await project.merchant.paidOrder('approved');
  await receiver.waitFor(1);
  const { events } = await withTemporal(stack(), (client) =>
    client.workflow.getHandle(deliveryWorkflowId({ order_id: id, n: 1 })).fetchHistory(),
  );
  expect(events?.[0]?.workflowExecutionStartedEventAttributes?.eagerExecutionAccepted).toBe(true);
});

test('when it arrives the order already has the status in it', async () => {
  const seen: Promise<string>[] = [];
  receiver.answer((response) => {
    seen.push(project.merchant.getOrder(webhookOf(receiver.received[0]!.body).order_id).then(({ status }) => status));
    response.writeHead(204).end();
  });
  await project.merchant.paidOrder('do_not_honor');
  await receiver.waitFor(1);
  expect(await seen[0]).toBe('error');
});

test('rules 13.1 and 13.7: every change of the status has a webhook with an id of its own: declined, then paid', async () => {
  const order = await project.merchant.createOrder();
  const customer = new Client();
  await customer.postForm(`/pay/${order.id}/`, {
    ...CARD,
    number: CARDS.do_not_honor.number,
    ...(await customer.openPage(order)),
  });
  await customer.postForm(`/pay/${order.id}/`, {
    ...CARD,
    number: CARDS.stolen.number,
    ...(await customer.openPage(order)),
  });
  await customer.postForm(`/pay/${order.id}/`, { ...CARD, ...(await customer.openPage(order)) });
  await receiver.waitFor(2);
  await anotherOrderIsTold();
  // new → processing at the first decline, no change at the second, processing → completed.
  const ids = receiver.received
    .filter(({ body }) => webhookOf(body).order_id === order.id)
    .map(({ headers }) => headers['webhook-id']);
  expect(ids.map(String).toSorted((a, b) => a.localeCompare(b))).toEqual([
    `webhook:${order.id}:1`,
    `webhook:${order.id}:2`,
  ]);
  expect(await deliveriesOf(order.id)).toHaveLength(2);
});

test('rules 13.1: creating an order is no change', async () => {
  const { id } = await project.merchant.createOrder();
  const other = await anotherOrderIsTold();
  expect(told()).toEqual([{ path: '/hook', order_id: other }]);
  expect(await deliveriesOf(id)).toEqual([]);
});
