import { createOrder } from '../../src/client';
import { orderSchema } from '../../src/contract/order';
import { Merchant, statusesOf } from '../support/merchant';
import { expectNothingEmpty } from '../support/merchant-payments';
import { TIMESTAMP, UUID } from '../support/shapes';

const merchant = new Merchant();

const FIELDS = {
  currency: 'EUR',
  amount: 2_599,
  merchant_order_id: 'A-1001',
  description: 'Two tickets — front row ✓',
  expiration_period: 'PT1H',
  payment_methods: ['credit-card'],
  return_url: 'https://shop.example/thanks?cart=1',
  failure_url: 'https://shop.example/sorry',
  webhook_url: 'https://shop.example/hook',
  locale: 'nl_NL',
  customer: {
    merchant_customer_id: 'c-1',
    email_address: 'ada@example.com',
    first_name: 'Ada',
    last_name: 'Lovelace',
    address_type: 'billing',
    address: 'Keizersgracht 1',
    postal_code: '1015 CJ',
    city: 'Amsterdam',
    state: 'NH',
    country: 'NL',
    locale: 'en_US',
    phone_numbers: ['+31200000000'],
    ip_address: '192.0.2.1',
  },
  client: { platform: 'a shop', version: [1, 2, { three: null }] },
  extra: { nested: { deep: [true, 1.5, ''] }, empty: [], 'key.with.dots': {} },
  order_lines: [{ name: 'ticket', quantity: 2 }],
};

describe('a sale, approved', () => {
  test('rules 1.5, 4.3, 4.8, 4.13 and 6.8: the order is completed, its transaction accepted, its response code 00, in one answer', async () => {
    const transaction = { ...(await merchant.cardTransaction('approved')), expiration_period: 'PT10M' };
    const answer = await createOrder(
      { orderRequest: { currency: 'EUR', amount: 2_599, description: 'Two tickets', transactions: [transaction] } },
      merchant.project,
    );
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
    const order = orderSchema.parse(answer.data);
    expectNothingEmpty(order);
    const { id, project_id, merchant_id } = order;
    // Exactly these fields: one more would be a promise nobody made.
    expect(order).toEqual({
      id: UUID,
      project_id: UUID,
      merchant_id: UUID,
      merchant_name: 'Demo Books',
      description: 'Two tickets',
      currency: 'EUR',
      amount: 2_599,
      status: 'completed',
      flags: ['is-test'],
      created: TIMESTAMP,
      modified: TIMESTAMP,
      completed: TIMESTAMP,
      expiration_period: 'PT30M',
      transactions: [
        {
          id: UUID,
          order_id: id,
          created: TIMESTAMP,
          modified: TIMESTAMP,
          amount: 2_599,
          currency: 'EUR',
          credit_debit: 'credit',
          payment_method: 'credit-card',
          payment_method_brand: 'visa',
          payment_method_details: {
            truncated_pan: '411111******1111',
            card_expiry: '122034',
            cardholder_name: 'Ada Lovelace',
            vault_token: transaction.payment_method_details.vault_token,
          },
          expiration_period: 'PT10M',
          is_capturable: false,
          captured_amount: 2_599,
          status: 'accepted',
          events: [
            { id: UUID, event: 'new', occurred: TIMESTAMP, noticed: TIMESTAMP, source: 'merchant' },
            {
              id: UUID,
              event: 'accepted',
              occurred: TIMESTAMP,
              noticed: TIMESTAMP,
              source: 'processor',
              result: 'approved',
            },
          ],
          outcomes: { processing: { status: 'accepted', response_code: '00', response_code_description: 'Approved' } },
        },
      ],
    });
    expect(order.created <= order.completed! && order.completed === order.modified).toBe(true);
    expect(await merchant.getOrder(id)).toEqual(order);
    const project = await merchant.getProject();
    expect([project_id, merchant_id]).toEqual([project.id, project.merchant_id]);
    expect(
      (await merchant.ledger(id)).map(({ operation, amount, requests, result }) => [
        operation,
        amount,
        requests,
        result,
      ]),
    ).toEqual([['sale', 2_599, 1, 'approved']]);
  });
});

describe('an order for the hosted page', () => {
  test('rules 5.1: carries order_url and status new, and every field comes back as it was sent', async () => {
    const order = orderSchema.parse(
      (
        await merchant.send('POST', '/v1/orders', {
          body: { ...FIELDS, status: 'completed', id: 'mine', refunded_amount: 5, unknown: 1 },
        })
      ).body,
    );
    expect(order).toMatchObject(FIELDS);
    expect(order).toMatchObject({ status: 'new', order_url: `${merchant.stack.api_url}/pay/${order.id}/` });
    expect(Object.keys(order)).not.toEqual(expect.arrayContaining(['transactions']));
    expect(await merchant.getOrder(order.id)).toEqual(order);
    expect(await merchant.ledger(order.id)).toEqual([]);
  });
});

describe('a sale, declined', () => {
  test('rules 3.3: a decline is an answer: 200, status error, the code and its description', async () => {
    const answer = await createOrder(
      {
        orderRequest: { currency: 'EUR', amount: 100, transactions: [await merchant.cardTransaction('do_not_honor')] },
      },
      merchant.project,
    );
    expect(answer.status).toBe(200);
    const order = orderSchema.parse(answer.data);
    expect(statusesOf(order)).toBe('error: error');
    expect(order.completed).toBeUndefined();
    const [transaction] = order.transactions!;
    expect(transaction).toMatchObject({
      outcomes: { processing: { status: 'error', response_code: '05', response_code_description: 'Do not honor' } },
    });
    expect(transaction!.captured_amount).toBeUndefined();
    expect(transaction!.events!.at(-1)).toMatchObject({
      event: 'error',
      source: 'processor',
      result: 'declined',
      authorization_iso_response_code: '05',
    });
  });
});
