import { orderSchema, type Order } from '../../../src/contract/order';
import { CARD, Client } from '../../support/customer';
import { Merchant, type RefusalName } from '../../support/merchant';

const get = (merchant: Merchant, id: string, query = '', headers: Record<string, string> = {}) =>
  merchant.send<Order & { error: RefusalName }>('GET', `/v1/orders/${id}/${query}`, { headers });

test.each([
  '?fields[]=amount_details',
  '?fields%5B%5D=amount_details',
  '?fields=amount_details',
  '?fields=nothing,amount_details',
  '?fields[]=nothing&fields[]=amount_details',
])('rules 5.4: %s adds amount_details', async (query) => {
  const merchant = new Merchant();
  const order = await merchant.paidOrder('approved', { amount: 2_500 });
  const { body } = await get(merchant, order.id, query);
  expect(orderSchema.parse(body)).toEqual({
    ...order,
    amount_details: { capturable: 0, captured: 2_500, refundable: 2_500, refunded: 0, voidable: 0, voided: 0 },
  });
});

test('rules 11.8: the ETag changes with every change of the order, and with nothing else', async () => {
  const merchant = new Merchant();
  const order = await merchant.createOrder({ return_url: 'https://shop.example/thanks' });
  const seen: string[] = [];
  const look = async () => {
    const { headers } = await get(merchant, order.id);
    seen.push(headers.get('etag')!);
    expect((await get(merchant, order.id, '?fields[]=amount_details')).headers.get('etag')).toBe(seen.at(-1));
  };
  const customer = new Client();
  await look();
  await merchant.send('PUT', `/v1/orders/${order.id}/`, { body: { description: 'x' } });
  await look();
  await customer.postForm(`/pay/${order.id}/`, {
    ...CARD,
    number: '4111111111111105',
    ...(await customer.openPage(order)),
  });
  await look();
  await customer.postForm(`/pay/${order.id}/`, { ...CARD, ...(await customer.openPage(order)) });
  await look();
  expect(new Set(seen).size).toBe(4);
  expect(seen.every((etag) => /^"[^"]+"$/.test(etag))).toBe(true);
  await look();
  expect(seen.at(-1)).toBe(seen.at(-2));
  const headers = { 'if-none-match': seen.at(-1)! };
  const known = await fetch(`${merchant.stack.api_url}/v1/orders/${order.id}/`, {
    headers: { ...headers, authorization: `Basic ${btoa(`${merchant.api_key}:`)}` },
  });
  expect([known.status, await known.text()]).toEqual([304, '']);
});
