import { orderWorkflowId } from '../../workflows/messages';
import { CARD, Client } from '../support/customer';
import { CARDS } from '../support/domain';
import { Merchant, statusesOf } from '../support/merchant';
import { makeDue } from '../support/merchant-payments';
import { stack } from '../support/stack';
import { setUp } from '../support/set-up';
import { temporalOf } from '../support/temporal-client';

/**
 * An operator terminates a workflow by mistake, or Temporal loses it: the order is in the record, and goes on from
 * there. That recovery starts it again when nobody asks for it: test/journeys/metrics.test.ts.
 */
const merchant = new Merchant();
const temporal = setUp(temporalOf, (client) => client.connection.close());

async function lost(): Promise<{ id: string }> {
  const { id } = await merchant.createOrder({ transactions: [{ payment_method: 'credit-card' }] });
  await temporal.workflow.getHandle(orderWorkflowId(id)).terminate('by mistake');
  return { id };
}

test('it is cancelled, and again', async () => {
  const { id } = await lost();
  for (const _ of [1, 2]) expect(statusesOf(await merchant.cancelOrder(id))).toBe('cancelled: cancelled');
});

test('its charge is approved after the request has ended: the notification alone completes it', async () => {
  const order = await merchant.paidOrder('processing_approved');
  const workflow = temporal.workflow.getHandle(orderWorkflowId(order.id));
  await workflow.terminate('by mistake');
  expect(statusesOf(await merchant.getOrder(order.id))).toBe('processing: processing');
  await makeDue(merchant, order.transactions![0]!.id);
  expect(statusesOf(await merchant.untilStatus(order.id, 'completed'))).toBe('completed: accepted');
  expect(await temporal.workflow.getHandle(orderWorkflowId(order.id)).result()).toBe('completed');
  expect(await merchant.ledger(order.id)).toHaveLength(1);
});

test('it is paid, once, and its workflow is there again', async () => {
  const order = await lost();
  const customer = new Client(stack().api_url);
  const form = { ...CARD, number: CARDS.approved.number, ...(await customer.openPage(order)) };
  for (const _ of [1, 2]) expect((await customer.postForm(`/pay/${order.id}/`, form)).status).toBe(200);
  expect(statusesOf(await merchant.getOrder(order.id))).toBe('completed: accepted');
  expect(await merchant.ledger(order.id)).toEqual([
    expect.objectContaining({ operation: 'sale', result: 'approved', requests: 1 }),
  ]);
  expect(await temporal.workflow.getHandle(orderWorkflowId(order.id)).result()).toBe('completed');
});
