import { setTimeout as sleep } from 'node:timers/promises';
import { orderSchema, type Order } from '../../../src/contract/order';
import { CARD, Client } from '../../support/customer';
import { recordRows } from '../../support/database';
import { CUSTOMER } from '../../support/domain';
import { Merchant, statusesOf, type RestAnswer, type RefusalName } from '../../support/merchant';
import { createTestProject } from '../../support/operator';
import { startReceiver } from '../../support/servers';
import { stack } from '../../support/stack';
import { until } from '../../support/waits';

async function put(
  merchant: Merchant,
  id: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<RestAnswer<Order & { error?: RefusalName }>> {
  return await merchant.send('PUT', `/v1/orders/${id}/`, { body, headers });
}

const FIELDS = {
  merchant_order_id: 'A-1001',
  description: 'Two tickets',
  return_url: 'https://shop.example/thanks',
  failure_url: 'https://shop.example/sorry',
  webhook_url: 'https://shop.example/hook',
  extra: { cart: { lines: [1, 2] }, note: 'kept' },
  customer: { first_name: 'Ada', country: 'NL' },
};

describe('rules 5.5: what changes', () => {
  test('every field that may change comes back as it was sent, the rest of the order as it was', async () => {
    const merchant = new Merchant();
    const order = await merchant.createOrder({ client: { platform: 'x' }, locale: 'nl_NL' });
    const { status, body } = await put(merchant, order.id, FIELDS);
    expect(status).toBe(200);
    expect(orderSchema.parse(body)).toEqual({ ...order, ...FIELDS, modified: body.modified });
    expect(body.modified > order.modified).toBe(true);
    expect(await merchant.getOrder(order.id)).toEqual(body);
  });

  test('a field that is not sent stays; extra and customer are replaced as a whole', async () => {
    const merchant = new Merchant();
    const order = await merchant.createOrder(FIELDS);
    const { body } = await put(merchant, order.id, {
      description: '',
      extra: { only: 'this' },
      customer: { last_name: 'Lovelace' },
    });
    expect(body).toEqual({
      ...order,
      description: '',
      extra: { only: 'this' },
      customer: { last_name: 'Lovelace' },
      modified: body.modified,
    });
  });

  test('nothing sent, nothing changed', async () => {
    const merchant = new Merchant();
    const order = await merchant.createOrder(FIELDS);
    expect((await put(merchant, order.id, {})).body).toEqual(order);
  });

  test('an order read may be sent back whole: amount and currency as they are, everything else that cannot change is ignored', async () => {
    const merchant = new Merchant();
    const order = await merchant.createOrder(FIELDS);
    const { status, body } = await put(merchant, order.id, {
      ...order,
      status: 'completed',
      flags: [],
      transactions: [],
      locale: 'de_DE',
      expiration_period: 'PT1S',
      order_lines: [{ a: 1 }],
    });
    // No change: also its version, which If-Match names, stays.
    expect([status, body]).toEqual([200, order]);
  });

  test('an order whose customer has an empty list, sent back as it was read, stays as it is', async () => {
    const merchant = new Merchant();
    const order = await merchant.createOrder({ customer: { first_name: 'Ada', phone_numbers: [] } });
    expect(order.customer).toEqual({ first_name: 'Ada' });
    expect((await put(merchant, order.id, order)).body).toEqual(order);
  });
});

test('rules 5.5: an order keeps a webhook address that a new one may not have', async () => {
  const merchant = new Merchant(stack(), stack().live_api_key);
  const { id } = await merchant.createOrder();
  const [webhook_url, another] = ['http://127.0.0.1:4000/', 'http://127.0.0.1:4001/'];
  await recordRows('update orders set webhook_url = :webhook_url where id = :id', { id, webhook_url });
  const order = await merchant.getOrder(id);
  expect((await put(merchant, id, order)).body).toEqual(order);
  const changed = await put(merchant, id, { ...order, description: 'another' });
  expect([changed.status, changed.body]).toMatchObject([200, { description: 'another', webhook_url }]);
  expect((await put(merchant, id, { webhook_url: another })).status).toBe(400);
});

test('rules 5.5: null clears a field, and the second time changes nothing that is shown', async () => {
  const merchant = new Merchant();
  const order = await merchant.createOrder({ ...FIELDS, customer: { city: 'Delft' }, extra: { a: null } });
  const nothing = {
    merchant_order_id: null,
    description: null,
    return_url: null,
    failure_url: null,
    webhook_url: null,
    customer: null,
    extra: null,
  };
  for (const _time of ['first', 'second']) {
    const { status, body } = await put(merchant, order.id, nothing);
    const kept = Object.entries(order).filter(([field]) => !(field in nothing));
    expect([status, body]).toEqual([200, { ...Object.fromEntries(kept), modified: body.modified }]);
  }
});

describe('refusals', () => {
  const WRONG: [string, object, string][] = [
    ['another amount', { amount: 1 }, 'amount'],
    ['another currency', { currency: 'USD' }, 'currency'],
    ['null for what an order must have', { amount: null }, 'amount'],
    ['a card number', { extra: { card: '4111 1111 1111 1111' } }, 'extra.card'],
  ];
  test('rules 5.5: a wrong field: ValidationError that names it, and nothing changes', async () => {
    const merchant = new Merchant();
    const order = await merchant.createOrder(FIELDS);
    for (const [what, body, property_path] of WRONG) {
      const { status, body: answer } = await put(merchant, order.id, { merchant_order_id: 'new', ...body });
      expect([what, status, answer.error]).toMatchObject([what, 400, { type: 'ValidationError', property_path }]);
    }
    expect(await merchant.getOrder(order.id)).toEqual(order);
  });

  test.each([
    ['completed', async (merchant: Merchant) => await merchant.paidOrder('approved')],
    ['error', async (merchant: Merchant) => await merchant.paidOrder('do_not_honor')],
    ['cancelled', async (merchant: Merchant) => await merchant.cancelOrder((await merchant.createOrder()).id)],
    [
      'expired',
      async (merchant: Merchant) =>
        await merchant.untilStatus((await merchant.createOrder({ expiration_period: 'PT1S' })).id, 'expired'),
    ],
  ])('rules 5.6: an order that is %s: Conflict', async (status, make) => {
    const merchant = new Merchant();
    const order = await make(merchant);
    expect(order.status).toBe(status);
    const answer = await put(merchant, order.id, { description: 'late' });
    expect([answer.status, answer.body.error?.type]).toEqual([409, 'Conflict']);
    expect(await merchant.getOrder(order.id)).toEqual(order);
  });
});

describe('If-Match', () => {
  test('only the version that was read is changed', async () => {
    const merchant = new Merchant();
    const { id } = await merchant.createOrder();
    const read = async () => (await merchant.send('GET', `/v1/orders/${id}/`)).headers.get('etag')!;
    const first = await read();
    const changed = await put(merchant, id, { description: 'one' }, { 'if-match': first });
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, await read()]);
    expect(changed.headers.get('etag')).not.toBe(first);
    const late = await put(merchant, id, { description: 'two' }, { 'if-match': first });
    expect([late.status, late.body.error?.type]).toEqual([412, 'PreconditionFailed']);
    expect((await put(merchant, id, { description: 'two' }, { 'if-match': '*' })).status).toBe(200);
    expect((await put(merchant, id, { description: 'three' }, { 'if-match': `"none", ${await read()}` })).status).toBe(
      200,
    );
    expect((await merchant.getOrder(id)).description).toBe('three');
  });

  test('rules 11.9: of 20 at once with one tag, exactly one changes the order', async () => {
    const merchant = new Merchant();
    const { id } = await merchant.createOrder();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => put(merchant, id, { description: `${n}` }, { 'if-match': '"0"' })),
    );
    const changed = answers.filter(({ status }) => status === 200);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array<number>(19).fill(412),
    ]);
    expect((await merchant.getOrder(id)).description).toBe(changed[0]!.body.description);
  });
});

describe('rules 14.7: an order of account funding keeps what its receiver must know of the customer', () => {
  let funding: Merchant;
  let order: Order;
  beforeAll(async () => {
    ({ merchant: funding } = await createTestProject({ account_funding: true }));
    order = await funding.createOrder({
      customer: CUSTOMER,
      transactions: [
        {
          payment_method: 'credit-card',
          payment_method_details: {
            receiver_account_number: 'NL00BANK0123456789',
            receiver_account_number_type: 'iban',
          },
        },
      ],
    });
  });
  const { city: _, ...withoutCity } = CUSTOMER;

  test.each<[string, unknown, number, string, string]>([
    ['none', null, 422, 'MissingInformationToCreateTransaction', 'customer.first_name'],
    ['without a field it needs', withoutCity, 422, 'MissingInformationToCreateTransaction', 'customer.city'],
    [
      'with another address',
      { ...CUSTOMER, address_type: 'shipping' },
      400,
      'ValidationError',
      'customer.address_type',
    ],
  ])('a customer %s is refused, and nothing changes', async (_title, customer, status, type, property_path) => {
    const answer = await put(funding, order.id, { description: 'new', customer });
    expect([answer.status, answer.body.error]).toMatchObject([status, { type, property_path }]);
    expect(await funding.getOrder(order.id)).toEqual(order);
  });

  test('another customer of whom all is known is accepted, and so is a change of other fields', async () => {
    const moved = { ...CUSTOMER, city: 'Delft' };
    expect((await put(funding, order.id, { customer: moved })).body.customer).toEqual(moved);
    expect((await put(funding, order.id, { description: 'moved' })).status).toBe(200);
  });

  test('an order of a sale may lose its customer', async () => {
    const sale = await funding.createOrder({ customer: CUSTOMER, transactions: [{ payment_method: 'credit-card' }] });
    expect((await put(funding, sale.id, { customer: null })).body).not.toHaveProperty('customer');
  });
});

describe('the order goes on from its new version', () => {
  /** Changes an order again and again while its payment is made; the number of the last change. */
  async function changedWhilePaid(merchant: Merchant): Promise<{ order_id: string; last: number }> {
    const order = await merchant.createOrder();
    await merchant.addFault({ operation: 'sale', order_id: order.id, kind: 'latency', milliseconds: 2_000, times: 1 });
    const customer = new Client();
    const form = { ...CARD, ...(await customer.openPage(order)) };
    let paying = true;
    const payment = customer.postForm(`/pay/${order.id}/`, form).finally(() => (paying = false));
    let last = 0;
    for (let n = 1; paying; n++) {
      if ((await put(merchant, order.id, { merchant_order_id: `${n}` })).status === 200) last = n;
      await sleep(50);
    }
    expect((await payment).status).toBeLessThan(400);
    return { order_id: order.id, last };
  }

  test('changes all through a payment neither lose it nor are lost', async () => {
    const merchant = new Merchant();
    // On a busy machine the payment may end before there are two.
    const { order_id, last } = await until('two changes during a payment', async () => {
      const changed = await changedWhilePaid(merchant);
      return changed.last > 1 && changed;
    });
    const paid = await merchant.untilStatus(order_id, 'completed');
    expect([statusesOf(paid), paid.merchant_order_id]).toEqual(['completed: accepted', `${last}`]);
    expect(await merchant.ledger(order_id)).toHaveLength(1);
  });

  test('its next webhook goes to the new address', async () => {
    const merchant = new Merchant();
    const [before, after] = [await startReceiver(), await startReceiver()];
    try {
      const order = await merchant.createOrder({ webhook_url: before.url });
      await put(merchant, order.id, { webhook_url: after.url });
      await merchant.cancelOrder(order.id);
      await after.waitFor(1);
      expect(before.received).toEqual([]);
    } finally {
      await Promise.all([before.close(), after.close()]);
    }
  });
});
