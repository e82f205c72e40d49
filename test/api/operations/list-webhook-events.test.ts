import type { DeliveryAnswer } from '../../../src/contract/delivery';
import type { WebhookEventPage } from '../../../src/contract/webhook-events';
import type { Merchant } from '../../support/merchant';
import { createTestProject } from '../../support/operator';
import { startReceiver } from '../../support/servers';
import { setUp } from '../../support/set-up';
import { until } from '../../support/waits';

const EVENTS = '/v1/webhooks/events/';
const receiver = setUp(startReceiver);

const list = async (merchant: Merchant, query = '', headers: Record<string, string> = {}) =>
  await merchant.send<WebhookEventPage>('GET', `${EVENTS}${query}`, { headers });

test('rules 13.19: the events after a cursor, with and without an address, of the own project only', async () => {
  const [{ id: project_id, merchant }, other] = [await createTestProject(), await createTestProject()];
  const { items, cursor } = (await list(merchant)).body;
  expect(items).toEqual([]);
  const without = await merchant.createOrder();
  await merchant.cancelOrder(without.id);
  const other_order = await other.merchant.createOrder();
  await other.merchant.cancelOrder(other_order.id);
  const addressed = await merchant.createOrder({ webhook_url: receiver.url });
  await merchant.cancelOrder(addressed.id);
  const page = await until('both events are there', async () => {
    const { body } = await list(merchant, `?cursor=${cursor}`);
    return body.items.length === 2 && body;
  });
  expect(page.items).toMatchObject([
    { webhook_id: expect.stringMatching(`^event:${without.id}:\\d+$`), order_id: without.id },
    { webhook_id: `webhook:${addressed.id}:1`, event: 'status_changed', order_id: addressed.id, project_id },
  ]);
  const [sent] = await receiver.waitFor(1);
  expect(sent!.headers['webhook-id']).toBe(page.items[1]!.webhook_id);
  const { body: deliveries } = await merchant.send<DeliveryAnswer[]>('GET', `/v1/orders/${addressed.id}/webhooks/`);
  expect(deliveries).toHaveLength(1);
});

test('rules 13.19: with wait=60 the answer comes with the event, at the end of the wait without one', async () => {
  const { merchant } = await createTestProject();
  const { cursor } = (await list(merchant)).body;
  const began = performance.now();
  const none = await list(merchant, `?cursor=${cursor}`, { prefer: 'wait=1' });
  expect(performance.now() - began).toBeGreaterThan(950);
  expect([none.body, none.headers.get('preference-applied')]).toEqual([{ items: [], cursor }, 'wait=1']);
  const order = await merchant.createOrder();
  const answer = list(merchant, `?cursor=${cursor}`, { prefer: 'wait=60' });
  await merchant.cancelOrder(order.id);
  expect((await answer).body.items.map(({ order_id }) => order_id)).toEqual([order.id]);
});

test('rules 13.19: a live project and a wrong cursor are refused', async () => {
  const live = await createTestProject({ is_test: false });
  const { merchant } = await createTestProject();
  expect([(await list(live.merchant)).status, (await list(merchant, '?cursor=x')).status]).toEqual([403, 400]);
});
