import type { DeliveryAnswer } from '../../../src/contract/delivery';
import { Merchant, type RefusalName } from '../../support/merchant';
import { startReceiver } from '../../support/servers';
import { stack } from '../../support/stack';
import { until } from '../../support/waits';

const merchant = new Merchant();
type Body = DeliveryAnswer & { error: RefusalName };
const redeliver = (id: string, n: string, who = merchant) =>
  who.send<Body>('POST', `/v1/orders/${id}/webhooks/${n}/redeliver/`);

test('rules 13.13: the same event goes out once more, under the same webhook-id, with attempts of its own', async () => {
  const receiver = await startReceiver();
  const { id } = await merchant.createOrder({ webhook_url: receiver.url });
  await merchant.cancelOrder(id);
  await receiver.waitFor(1);
  const { status, body } = await redeliver(id, '1');
  expect([status, body]).toMatchObject([201, { id: `${id}-2`, redelivery_of: `${id}-1`, status: 'new' }]);
  const [first, second] = await receiver.waitFor(2);
  expect(second!.body).toBe(first!.body);
  expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
  await until('both are delivered', async () => {
    const { body: all } = await merchant.send<DeliveryAnswer[]>('GET', `/v1/orders/${id}/webhooks/`);
    return (
      all.map((one) => `${one.id.slice(-1)} ${one.status} ${one.attempts.length}`).join(', ') ===
      '2 delivered 1, 1 delivered 1'
    );
  });
  await receiver.close();
});

test('an unknown webhook is 404, an order of another project 401, a number that is none 400', async () => {
  const { id } = await merchant.createOrder();
  const live = new Merchant(stack(), stack().live_api_key);
  const answers = [await redeliver(id, '1'), await redeliver(id, '1', live), await redeliver(id, '0')];
  expect(answers.map(({ status, body }) => [status, body.error.type])).toEqual([
    [404, 'NotFound'],
    [401, 'Unauthorized'],
    [400, 'ValidationError'],
  ]);
});
