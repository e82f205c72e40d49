import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import type { Order } from '../../../src/contract/order';
import { CARD, Client } from '../page/hosted-page';
import { Merchant, newIdempotencyKey, statusesOf, type Answer, type Refusal } from '../../support/client';
import { stack } from '../../support/stack';

/** As merchants do: what the service could not answer in time is sent again. */
async function cancel(
  merchant: Merchant,
  id: string,
  headers: Record<string, string> = {},
): Promise<Answer<Order & { error: Refusal }>> {
  for (let tries = 1; ; tries += 1) {
    const answer = await merchant.send<Order & { error: Refusal }>('DELETE', `/v1/orders/${id}/`, { headers });
    if (answer.status !== 503 || tries === 5) return answer;
    await sleep(1_000 * Number(answer.headers.get('retry-after')));
  }
}

test('rules 5.7: an order that waits for its customer is cancelled together with its transaction; again answers the same', async () => {
  const merchant = new Merchant();
  const order = await merchant.createOrder({ transactions: [{ payment_method: 'credit-card' }] });
  const answers = [await cancel(merchant, order.id), await cancel(merchant, order.id)];
  expect(answers.map(({ status, body }) => [status, statusesOf(body)])).toEqual(
    Array(2).fill([200, 'cancelled: cancelled']),
  );
  expect(answers[1]!.body).toEqual(answers[0]!.body);
  expect(await merchant.getOrder(order.id)).toEqual(answers[0]!.body);
});

test.each(['approved', 'do_not_honor'] as const)(
  'rules 5.7: an order that is final by another way (%s): CanNotCancelTransaction',
  async (card) => {
    const merchant = new Merchant();
    const order = await merchant.paidOrder(card);
    const { status, body } = await cancel(merchant, order.id);
    expect([status, body.error.type]).toEqual([409, 'CanNotCancelTransaction']);
    expect(await merchant.getOrder(order.id)).toEqual(order);
  },
);

test('rules 5.7: many at once: all are told that it is cancelled', async () => {
  const merchant = new Merchant();
  for (let round = 0; round < 5; round += 1) {
    const { id } = await merchant.createOrder();
    const answers = await Promise.all(Array.from({ length: 8 }, () => cancel(merchant, id)));
    expect(answers.map(({ status, body }) => `${status} ${body.status}`)).toEqual(Array(8).fill('200 cancelled'));
  }
});

test('while the customer pays, or cancels too: cancelled, or CanNotCancelTransaction; nothing else', async () => {
  const merchant = new Merchant();
  for (let round = 0; round < 6; round += 1) {
    const order = await merchant.createOrder();
    const customer = new Client();
    const form = await customer.openPage(order);
    const paying =
      round % 2 === 0
        ? customer.postForm(`/pay/${order.id}/`, { ...CARD, ...form })
        : customer.postForm(`/pay/${order.id}/cancel`, form);
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => sleep(n * 15).then(() => cancel(merchant, order.id))),
    );
    expect((await paying).status).not.toBe(403);
    const told = new Set(
      answers.map(({ status, body }) => (status === 200 ? body.status : `${status} ${body.error.type}`)),
    );
    const { status } = await merchant.getOrder(order.id);
    expect([...told].filter((one) => one !== 'cancelled' && one !== '409 CanNotCancelTransaction')).toEqual([]);
    expect(told.has('cancelled')).toBe(status === 'cancelled');
  }
});

test('an order of another project: 401; one that does not exist: 404', async () => {
  const { id } = await new Merchant().createOrder();
  expect((await cancel(new Merchant(stack(), stack().live_api_key), id)).status).toBe(401);
  expect((await cancel(new Merchant(), uuidv7())).status).toBe(404);
});

test('If-Match cancels only what was read', async () => {
  const merchant = new Merchant();
  const { id } = await merchant.createOrder();
  const read = (await merchant.send('GET', `/v1/orders/${id}/`)).headers.get('etag')!;
  await merchant.send('PUT', `/v1/orders/${id}/`, { body: { description: 'changed since' } });
  const late = await cancel(merchant, id, { 'if-match': read });
  expect([late.status, late.body.error.type, (await merchant.getOrder(id)).status]).toEqual([
    412,
    'PreconditionFailed',
    'new',
  ]);
  const now = (await merchant.send('GET', `/v1/orders/${id}/`)).headers.get('etag')!;
  const cancelled = await cancel(merchant, id, { 'if-match': now });
  expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled']);
  expect(cancelled.headers.get('etag')).toBe((await merchant.send('GET', `/v1/orders/${id}/`)).headers.get('etag'));
});

test('with an Idempotency-Key: all of 8 at once, and a later one, get the first answer, although If-Match names the old version', async () => {
  const merchant = new Merchant();
  const { id } = await merchant.createOrder();
  const headers = { 'idempotency-key': newIdempotencyKey(), 'if-match': '"0"' };
  const answers = await Promise.all(Array.from({ length: 8 }, () => cancel(merchant, id, headers)));
  answers.push(await cancel(merchant, id, headers));
  const { headers: read, body } = await merchant.send('GET', `/v1/orders/${id}/`);
  expect(answers.map((answer) => [answer.status, answer.headers.get('etag'), answer.body])).toEqual(
    Array(9).fill([200, read.get('etag'), body]),
  );
});
