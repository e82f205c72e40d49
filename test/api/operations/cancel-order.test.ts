import { setTimeout as sleep } from 'node:timers/promises';
import type { Order } from '../../../src/contract/order';
import { CARD, Client } from '../../support/customer';
import { Merchant, newIdempotencyKey, statusesOf, type RestAnswer, type RefusalName } from '../../support/merchant';

/** As merchants do: what the service could not answer in time is sent again. */
async function cancel(
  merchant: Merchant,
  id: string,
  headers: Record<string, string> = {},
): Promise<RestAnswer<Order & { error: RefusalName }>> {
  for (let tries = 1; ; tries += 1) {
    const answer = await merchant.send<Order & { error: RefusalName }>('DELETE', `/v1/orders/${id}/`, { headers });
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
  const { events } = answers[0]!.body.transactions![0]!;
  expect(events!.at(-1)).toMatchObject({ event: 'cancelled', source: 'merchant' });
  expect(await merchant.getOrder(order.id)).toEqual(answers[0]!.body);
});

test('rules 5.7: many at once: all are told that it is cancelled', async () => {
  const merchant = new Merchant();
  for (let round = 0; round < 5; round += 1) {
    const { id } = await merchant.createOrder();
    const answers = await Promise.all(Array.from({ length: 8 }, () => cancel(merchant, id)));
    expect(answers.map(({ status, body }) => `${status} ${body.status}`)).toEqual(Array(8).fill('200 cancelled'));
  }
});

test('rules 5.7: while the customer pays, or cancels too: cancelled, or CanNotCancelTransaction; nothing else', async () => {
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
    expect(await merchant.ledger(order.id)).toHaveLength(status === 'cancelled' ? 0 : 1);
  }
});

test('rules 5.7 and 11.5: while the processor does not say whether the customer at the issuer has paid it is 503, and the repeat cancels', async () => {
  const merchant = new Merchant();
  const { id } = await merchant.createOrder({ transactions: [await merchant.cardTransaction('challenge')] });
  await merchant.addFault({ operation: 'ask', order_id: id, kind: 'outage' });
  const headers = { 'idempotency-key': newIdempotencyKey() };
  const send = () => merchant.send<Order & { error: RefusalName }>('DELETE', `/v1/orders/${id}/`, { headers });
  const silent = await send();
  expect([silent.status, silent.body.error.type, silent.headers.has('retry-after')]).toEqual([
    503,
    'ServerError',
    true,
  ]);
  expect(statusesOf(await merchant.getOrder(id))).toBe('processing: pending');
  await merchant.removeFaults();
  const repeat = await send();
  expect([repeat.status, statusesOf(repeat.body)]).toEqual([200, 'cancelled: cancelled']);
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
