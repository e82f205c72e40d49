import { orderSchema } from '../../src/contract/order';
import { ledgerOf } from '../support/ledger';
import { Merchant, statusesOf } from '../support/merchant';
import {
  amountDetailsOf,
  capture,
  createAuthorization,
  expectNothingEmpty,
  getWholeOrder,
} from '../support/merchant-payments';

/** Money that is reserved, and taken later: by the merchant (manual) or by the service at the end (delayed). */
const merchant = new Merchant();

describe('an authorization', () => {
  test('rules 8.1: with capture_mode the amount is reserved: completed and accepted, nothing captured, capturable for five days', async () => {
    const order = orderSchema.parse(await createAuthorization(merchant));
    expectNothingEmpty(order);
    expect(statusesOf(order)).toBe('completed: accepted');
    expect(order.transactions![0]).toMatchObject({
      transaction_type: 'authorization',
      capture_mode: 'manual',
      is_capturable: true,
      expiration_period: 'P5D',
      credit_debit: 'credit',
    });
    for (const field of ['captured_amount', 'voided_amount', 'payment_url']) {
      expect(order.transactions![0]).not.toHaveProperty(field);
    }
    for (const field of ['order_url', 'refunded_amount', 'related_orders']) expect(order).not.toHaveProperty(field);
    expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 1000']);
    expect(await amountDetailsOf(merchant, order)).toEqual({
      capturable: 1_000,
      captured: 0,
      refundable: 0,
      refunded: 0,
      voidable: 1_000,
      voided: 0,
    });
  });

  test('rules 7.4 and 7.5: windows: the value sent, else P5D for manual and PT30M for delayed', async () => {
    const windowOf = async (capture_mode: string, expiration_period?: string) => {
      const order = await createAuthorization(merchant, {
        transaction: { capture_mode, ...(expiration_period && { expiration_period }) },
      });
      const { expiration_period: shown, is_capturable } = order.transactions![0]!;
      return [shown, is_capturable];
    };
    const [manual, delayed] = ['manual', 'delayed'];
    expect([await windowOf(manual), await windowOf(manual, 'PT2H')]).toEqual([
      ['P5D', true],
      ['PT2H', true],
    ]);
    expect([await windowOf(delayed), await windowOf(delayed, 'P1D')]).toEqual([
      ['PT30M', false],
      ['P1D', false],
    ]);
  });
});

describe('a capture', () => {
  test('rules 8.3, 9.1, 9.3 and 9.4: of all: an order of its own that names the original, and is named by it', async () => {
    const order = await createAuthorization(merchant, {
      description: 'A chair',
      merchant_order_id: 'M-7',
      extra: { mine: 1 },
      customer: { first_name: 'Ada' },
      return_url: 'https://shop.example/',
    });
    const answer = await capture(merchant, order);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
    const captured = orderSchema.parse(answer.body);
    // Which fields it has and no others: test/journeys/refunds.test.ts.
    expect(captured).toMatchObject({
      description: 'A chair',
      merchant_order_id: 'M-7',
      amount: 1_000,
      status: 'completed',
      flags: ['is-test', 'is-capture'],
      capture_of_order_id: order.id,
      related_order_id: order.id,
      transactions: [
        {
          credit_debit: 'credit',
          payment_method: 'credit-card',
          transaction_type: 'capture',
          status: 'accepted',
          events: [
            { event: 'new', source: 'merchant' },
            { event: 'accepted', source: 'processor' },
          ],
        },
      ],
    });
    for (const field of ['order_url', 'expiration_period', 'extra', 'customer', 'return_url']) {
      expect(captured).not.toHaveProperty(field);
    }
    expectNothingEmpty(captured);
    expect(await merchant.getOrder(captured.id)).toEqual(captured);
    const original = await getWholeOrder(merchant, order);
    expect(original).toMatchObject({
      status: 'completed',
      flags: ['is-test', 'has-captures'],
      related_orders: [captured.id],
    });
    expect(original.transactions![0]).toMatchObject({
      status: 'accepted',
      captured_amount: 1_000,
      is_capturable: false,
    });
    expect(original.amount_details).toEqual({
      capturable: 0,
      captured: 1_000,
      refundable: 1_000,
      refunded: 0,
      voidable: 0,
      voided: 0,
    });
    expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 1000', 'capture approved 1000']);
    expectNothingEmpty(original);
  });
});
