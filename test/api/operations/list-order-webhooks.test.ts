import type { DeliveryAnswer } from '../../../src/contract/delivery';
import { Merchant } from '../../support/client';
import { startReceiver } from '../../support/receiver';
import { until } from '../../support/until';

const merchant = new Merchant();
const list = async (id: string) => (await merchant.send<DeliveryAnswer[]>('GET', `/v1/orders/${id}/webhooks/`)).body;

test('rules 13.12: an order that has sent none has an empty list; then each with its attempts', async () => {
  const receiver = await startReceiver();
  receiver.answer((response) => response.writeHead(201).end());
  const { id } = await merchant.createOrder({ webhook_url: receiver.url });
  expect(await list(id)).toEqual([]);
  await merchant.cancelOrder(id);
  await receiver.waitFor(1);
  const delivered = await until('it is recorded', async () => {
    const [delivery] = await list(id);
    return delivery?.status === 'delivered' && delivery;
  });
  expect(delivered).toMatchObject({
    id: `${id}-1`,
    url: receiver.url,
    attempts: [{ n: 1, duration_ms: expect.any(Number) as unknown, status_code: 201 }],
  });
  expect(delivered).not.toHaveProperty('next_attempt_at');
  await receiver.close();
});
