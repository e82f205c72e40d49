import type { DeliveryAnswer } from '../../../src/contract/delivery';
import { recordRows } from '../../support/database';
import { Merchant } from '../../support/merchant';
import { startReceiver } from '../../support/servers';
import { until } from '../../support/waits';

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

describe('rules 13.15: many are paged, newest first', () => {
  let id: string;
  const numbers = async (query = '') => {
    const { body } = await merchant.send<DeliveryAnswer[]>('GET', `/v1/orders/${id}/webhooks/${query}`);
    return body.map((one) => Number(one.id.slice(id.length + 1)));
  };
  beforeAll(async () => {
    ({ id } = await merchant.createOrder());
    await recordRows(
      `insert into webhook_deliveries (order_id, n, url, status, created)
       select :id, n, 'https://shop.example/', 'delivered', now() from generate_series(1, 230) n`,
      { id },
    );
  });

  it('100 at most at a time, all of them by `before`', async () => {
    const pages = [await numbers(), await numbers('?before=131'), await numbers('?before=31')];
    expect(pages.map(({ length }) => length)).toEqual([100, 100, 30]);
    expect(pages.flat()).toEqual(Array.from({ length: 230 }, (_, index) => 230 - index));
    expect(await numbers('?limit=2&before=10')).toEqual([9, 8]);
  });

  it.each(['?limit=0', '?limit=101', '?limit=x', '?before=0', '?before=-1', '?after=1'])(
    '%s is a ValidationError',
    async (query) => {
      expect((await merchant.send('GET', `/v1/orders/${id}/webhooks/${query}`)).status).toBe(400);
    },
  );
});
