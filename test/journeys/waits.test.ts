import pino from 'pino';
import type { Order } from '../../src/contract/order';
import { parseConfig } from '../../src/config';
import { serveApi } from '../../src/processes/serve-api';
import { readVariables } from '../../src/stack/launch';
import { CARD, Client } from '../support/customer';
import { recordRows } from '../support/database';
import { Merchant, newIdempotencyKey } from '../support/merchant';
import { createTestProject, type TestProject } from '../support/operator';
import { setUp } from '../support/set-up';
import { postControl, stack } from '../support/stack';
import { until } from '../support/waits';

/** Requests that are answered when the status of their order changes. */
const project = setUp<TestProject>(() => createTestProject());
const WAIT = { prefer: 'wait=60' };

const get = (merchant: Merchant, id: string, headers: Record<string, string> = WAIT) =>
  merchant.send<Order>('GET', `/v1/orders/${id}/`, { headers });

const makeDue = async ({ transactions = [] }: Pick<Order, 'transactions'>) => {
  await postControl(stack(), 'due', { transaction_id: transactions.at(-1)!.id });
};

describe('rules 5.12: a GET with wait=60 is answered when the status changes', () => {
  const merchant = () => project.merchant;
  test.each<[by: string, order: () => Promise<Order>, act: (order: Order) => Promise<unknown>, status: string]>([
    ['the merchant cancels', () => merchant().createOrder(), ({ id }) => merchant().cancelOrder(id), 'cancelled'],
    [
      'the customer is declined on the page',
      () => merchant().createOrder(),
      async (order) => {
        const customer = new Client();
        const fields = { ...CARD, number: '4111111111111105', ...(await customer.openPage(order)) };
        await customer.postForm(`/pay/${order.id}/`, fields);
      },
      'processing',
    ],
    ['the processor notifies', () => merchant().paidOrder('processing_approved'), makeDue, 'completed'],
    [
      'a refund ends',
      async () => {
        const { id } = await merchant().paidOrder('refund_processing');
        return (await merchant().send<Order>('POST', `/v1/orders/${id}/refunds/`, { body: { amount: 100 } })).body;
      },
      async ({ related_order_id }) => makeDue(await merchant().getOrder(related_order_id!)),
      'completed',
    ],
  ])('%s', async (_by, create, act, status) => {
    const order = await create();
    const answer = get(project.merchant, order.id);
    await act(order);
    const { body, headers } = await answer;
    expect([body.id, body.status, headers.get('preference-applied')]).toEqual([order.id, status, 'wait=60']);
  });
});

test('rules 5.12, 5.13: a creation is answered with its outcome, and a repeat of it with the same answer', async () => {
  const { merchant } = project;
  const body = {
    currency: 'EUR',
    amount: 1_250,
    transactions: [await merchant.cardTransaction('processing_approved')],
  };
  const headers = { ...WAIT, 'idempotency-key': newIdempotencyKey() };
  const before = new Set((await merchant.send<Order[]>('GET', '/v1/orders/')).body.map(({ id }) => id));
  const creating = merchant.send<Order>('POST', '/v1/orders/', { body, headers });
  const created = await until('the order is there', async () =>
    (await merchant.send<Order[]>('GET', '/v1/orders/')).body.find(
      ({ id, status }) => !before.has(id) && status === 'processing',
    ),
  );
  await makeDue(created);
  const answer = await creating;
  expect([answer.body.id, answer.body.status]).toEqual([created.id, 'completed']);
  expect(answer.headers.get('preference-applied')).toBe('wait=60');
  const repeat = await merchant.send<Order>('POST', '/v1/orders/', {
    body,
    headers: { 'idempotency-key': headers['idempotency-key'] },
  });
  expect([repeat.body, repeat.headers.get('preference-applied')]).toEqual([answer.body, null]);
});

test('rules 5.12: a final order is answered at once, an unchanged one at the end of the wait', async () => {
  const { merchant } = project;
  const paid = await get(merchant, (await merchant.paidOrder('approved')).id);
  expect([paid.body.status, paid.headers.get('preference-applied')]).toEqual(['completed', 'wait=60']);
  const { id } = await merchant.createOrder();
  const began = performance.now();
  const unchanged = await get(merchant, id, { prefer: 'wait=1' });
  expect(performance.now() - began).toBeGreaterThan(950);
  expect([unchanged.body.status, unchanged.headers.get('preference-applied')]).toEqual(['new', 'wait=1']);
});

test('rules 5.12: with If-None-Match it waits only for a client that knows the current version', async () => {
  const { merchant } = project;
  const { id } = await merchant.createOrder();
  const etag = (await get(merchant, id, {})).headers.get('etag')!;
  const ask = (prefer: string) =>
    fetch(`${merchant.stack.api_url}/v1/orders/${id}/`, {
      headers: { authorization: `Basic ${btoa(`${merchant.api_key}:`)}`, prefer, 'if-none-match': etag },
    });
  const same = await ask('wait=1');
  expect([same.status, same.headers.get('preference-applied')]).toEqual([304, 'wait=1']);
  await merchant.send('PUT', `/v1/orders/${id}/`, { body: { description: 'x' } });
  const changed = await ask('wait=60');
  expect([changed.status, changed.headers.get('preference-applied')]).toEqual([200, 'wait=60']);
});

test('rules 5.13, 25.4: an api that stops answers its waits at once, and logs these requests; asked again, another one waits on', async () => {
  const { merchant } = project;
  const variables = { ...process.env, ...readVariables(stack().data_dir), API_PORT: '0', METRICS_PORT: '' };
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const api = await serveApi(parseConfig(variables), log);
  const { url } = JSON.parse(lines.find((line) => line.includes('api listens'))!) as { url: string };
  const here = new Merchant({ ...merchant.stack, api_url: url }, merchant.api_key);
  const order = await merchant.createOrder();
  const waiting = Array.from({ length: 5 }, () => get(here, order.id));
  await until('all have come', async () => {
    const { headers } = await get(here, order.id, { prefer: 'wait=1' });
    return headers.get('preference-applied') === 'wait=1';
  });
  await api.close();
  const answers = await Promise.all(waiting);
  expect(answers.map(({ body }) => body.status)).toEqual(answers.map(() => 'new'));
  const ids = answers.map(({ headers }) => headers.get('x-request-id'));
  const logged = await recordRows('select 1 from logged_requests where id = any(:ids::uuid[])', { ids });
  expect(logged).toHaveLength(answers.length);
  const again = answers.map(({ body }) => get(merchant, body.id));
  await merchant.cancelOrder(order.id);
  expect((await Promise.all(again)).map(({ body }) => body.status)).toEqual(answers.map(() => 'cancelled'));
});
