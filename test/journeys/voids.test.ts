import { orderSchema } from '../../src/contract/order';
import { ledgerOf } from '../support/ledger';
import { Merchant, statusesOf } from '../support/merchant';
import { createAuthorization, expectNothingEmpty, getWholeOrder, voidAll } from '../support/merchant-payments';

/** Money that is reserved, and released. */
const merchant = new Merchant();
describe('a void', () => {
  test('rules 8.3, 8.11, 9.1 and 9.4: of all: a void order, and the transaction is cancelled while its order stays completed', async () => {
    const order = await createAuthorization(merchant, {
      description: 'A chair',
      merchant_order_id: 'M-8',
      extra: { mine: 1 },
    });
    const { status, body } = await voidAll(merchant, order);
    const voided = orderSchema.parse(body);
    expect([status, statusesOf(voided)]).toEqual([200, 'completed: accepted']);
    expect(voided).toMatchObject({
      amount: 1_000,
      currency: 'EUR',
      void_of_order_id: order.id,
      related_order_id: order.id,
      description: 'A chair',
      merchant_order_id: 'M-8',
      flags: ['is-test', 'is-void'],
    });
    expect(voided.transactions).toEqual([
      expect.objectContaining({
        transaction_type: 'void',
        credit_debit: 'debit',
        payment_method: 'credit-card',
        amount: 1_000,
      }),
    ]);
    for (const field of ['order_url', 'expiration_period', 'extra', 'capture_of_order_id', 'refund_of_order_id']) {
      expect(voided).not.toHaveProperty(field);
    }
    for (const field of ['capture_mode', 'is_capturable', 'refund_of_transaction_id', 'payment_url']) {
      expect(voided.transactions![0]).not.toHaveProperty(field);
    }
    expectNothingEmpty(voided);

    const original = orderSchema.parse(await getWholeOrder(merchant, order));
    expect([statusesOf(original), original.flags, original.related_orders]).toEqual([
      'completed: cancelled',
      ['is-test', 'has-voids'],
      [voided.id],
    ]);
    expect(original.completed).toBe(order.completed);
    expect(original.transactions![0]).toMatchObject({ voided_amount: 1_000, is_capturable: false });
    expect(original.transactions![0]!.events!.at(-1)).toMatchObject({ event: 'cancelled', source: 'merchant' });
    expect(original.amount_details).toEqual({
      capturable: 0,
      captured: 0,
      refundable: 0,
      refunded: 0,
      voidable: 0,
      voided: 1_000,
    });
    expectNothingEmpty(original);
    expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 1000', 'void approved 1000']);
  });
});
