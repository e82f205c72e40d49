import { randomUUID } from 'node:crypto';
import type { LoggedRequestAnswer } from '../../../src/contract/request-log';
import type { ListPage } from '../../../src/db/pages';
import { Merchant } from '../../support/merchant';
import { createTestProject } from '../../support/operator';
import { until } from '../../support/waits';

const merchant = new Merchant();
const list = (id: string, query = '', as = merchant) =>
  as.send<ListPage<LoggedRequestAnswer>>('GET', `/v1/orders/${id}/requests/${query}`);

test('rules 25.3: lists what was sent about an order: its creation, its refund, and what was refused', async () => {
  const order = await merchant.paidOrder('approved');
  const refund = { amount: 100, description: 'One book' };
  const post = (body: object) => merchant.send<{ id: string }>('POST', `/v1/orders/${order.id}/refunds/`, { body });
  await post({ ...refund, amount: 'much' });
  await post({ ...refund, amount: 1_000_000 });
  const refunded = await post(refund);
  const [of_order, of_refund] = await until('all are listed', async () => {
    const lists = [(await list(order.id)).body.items, (await list(refunded.body.id)).body.items] as const;
    // paidOrder may have read the order meanwhile.
    return lists[0].some(({ object_id }) => object_id === refunded.body.id) && lists;
  });
  const without_reads = of_order.filter(({ method }) => method !== 'GET');
  expect(
    without_reads.map(({ operation, status, error_type, error_fields }) => [
      operation,
      status,
      error_type,
      error_fields,
    ]),
  ).toEqual([
    ['refundOrder', 200, undefined, undefined],
    ['refundOrder', 400, 'RefundError', undefined],
    ['refundOrder', 400, 'ValidationError', ['amount']],
    ['createOrder', 200, undefined, undefined],
  ]);
  expect(of_refund).toEqual([without_reads[0]]);
  expect((await list(order.id, '?only_errors=true')).body.items).toEqual(without_reads.slice(1, 3));
  const of = async (query: string) => (await list(order.id, query)).body.items;
  expect(await of('?operation=refundOrder')).toEqual(without_reads.slice(0, 3));
  expect(await of('?operation=refundOrder&status=400')).toEqual(without_reads.slice(1, 3));
  expect(await of('?operation=createOrder&status=400')).toEqual([]);
  const pages = await list(order.id, '?limit=1&only_errors=true');
  expect((await list(order.id, `?limit=1&only_errors=true&cursor=${pages.body.next}`)).body.items).toEqual([
    without_reads[2],
  ]);
});

test('rules 25.3: of another project it is Unauthorized, and its requests about the order are not shown', async () => {
  const order = await merchant.createOrder();
  const other = await createTestProject();
  const foreign = await other.merchant.send('GET', `/v1/orders/${order.id}/`);
  expect(foreign.status).toBe(401);
  const of_other = () => other.merchant.send<ListPage<LoggedRequestAnswer>>('GET', '/v1/requests/');
  await until('it is written', async () => (await of_other()).body.items.length === 1);
  await until('the creation is listed', async () => (await list(order.id)).body.items.length > 0);
  const operations = (await list(order.id)).body.items.map(({ operation }) => operation);
  expect(operations).toEqual(['createOrder']);
  expect((await list(order.id, '', other.merchant)).status).toBe(401);
  expect((await list(randomUUID())).status).toBe(404);
  for (const query of ['?x=1', '?operation=x', '?status=x']) expect((await list(order.id, query)).status).toBe(400);
});
