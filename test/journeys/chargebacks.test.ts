import { orderSchema } from '../../src/contract/order';
import { recordRows } from '../support/database';
import { entriesOf, ledgerOf } from '../support/ledger';
import { Merchant, statusesOf } from '../support/merchant';
import {
  capture,
  capturePart,
  controlSimulator,
  createAuthorization,
  expectNothingEmpty,
  getWholeOrder,
  makeDue,
  outcomeInWords,
  part,
  payingTransactionId,
  refund,
  untilFollowUp,
  untilOrder,
} from '../support/merchant-payments';

/** Money that the issuer takes back, and that is won back. The processor tells of both after the fact. */
const merchant = new Merchant();
const attentionOf = async (id: string) =>
  (await recordRows<{ attention: string | null }>('select attention from orders where id = :id', { id }))[0]!.attention;

describe('a chargeback', () => {
  test('rules 9.5 and 9.7: is an order of its own that names the payment, and is named by it; what it took is not refundable', async () => {
    const order = await merchant.paidOrder('chargeback', {
      amount: 800,
      description: 'A coat',
      merchant_order_id: 'M-10',
    });
    expect(statusesOf(order)).toBe('completed: accepted');
    await makeDue(merchant, payingTransactionId(order));
    const charged_back = orderSchema.parse(await untilFollowUp(merchant, order, 'is-chargeback'));
    expect(charged_back).toMatchObject({
      status: 'completed',
      amount: 800,
      currency: 'EUR',
      flags: ['is-test', 'is-chargeback'],
      chargeback_of_order_id: order.id,
      related_order_id: order.id,
      description: 'A coat',
      merchant_order_id: 'M-10',
      transactions: [
        {
          transaction_type: 'chargeback',
          credit_debit: 'debit',
          payment_method: 'credit-card',
          payment_method_brand: 'mastercard',
          status: 'accepted',
          events: [
            { event: 'new', source: 'processor' },
            { event: 'accepted', source: 'processor' },
          ],
        },
      ],
    });
    for (const field of ['order_url', 'refund_of_order_id', 'expiration_period']) {
      expect(charged_back).not.toHaveProperty(field);
    }
    expectNothingEmpty(charged_back);
    const original = orderSchema.parse(await getWholeOrder(merchant, order));
    expect(original).toMatchObject({
      status: 'completed',
      flags: ['is-test', 'has-chargebacks'],
      chargeback_orders: [charged_back.id],
      related_orders: [charged_back.id],
    });
    expect(original).not.toHaveProperty('refunded_amount');
    expect(original.amount_details).toEqual({
      capturable: 0,
      captured: 800,
      refundable: 0,
      refunded: 0,
      voidable: 0,
      voided: 0,
    });
    expect(outcomeInWords(await refund(merchant, order, { amount: 1 }))).toEqual([400, 'RefundError']);
    const wrong = await refund(merchant, charged_back, { amount: 1 });
    expect([outcomeInWords(wrong), wrong.body.error.value.includes(order.id)]).toEqual([[400, 'RefundError'], true]);
    expect(await attentionOf(charged_back.id)).toBeNull();
    expect(await ledgerOf(merchant, order)).toEqual(['sale approved 800', 'chargeback approved 800']);
  });

  test('rules 9.5 and 9.7: that is won back: a reversal order of the payment, a credit, and the amount is refundable again', async () => {
    const order = await merchant.paidOrder('chargeback_won', { amount: 600 });
    await makeDue(merchant, payingTransactionId(order));
    const charged_back = await untilFollowUp(merchant, order, 'is-chargeback');
    await makeDue(merchant, payingTransactionId(order));
    const won = orderSchema.parse(await untilFollowUp(merchant, order, 'is-reversal'));
    expect(won).toMatchObject({
      status: 'completed',
      amount: 600,
      flags: ['is-test', 'is-reversal'],
      reversal_of_order_id: order.id,
      related_order_id: order.id,
    });
    expect(won.transactions).toMatchObject([
      { transaction_type: 'reversal', credit_debit: 'credit', payment_method: 'credit-card', status: 'accepted' },
    ]);
    expectNothingEmpty(won);
    const original = await getWholeOrder(merchant, order);
    expect(original).toMatchObject({
      flags: ['is-test', 'has-chargebacks', 'has-reversals'],
      chargeback_orders: [charged_back.id],
      reversal_orders: [won.id],
      related_orders: [charged_back.id, won.id],
    });
    expect(original.amount_details!.refundable).toBe(600);
    expect(outcomeInWords(await refund(merchant, order, { amount: 600 }))).toEqual([200, 'completed']);
    expect(outcomeInWords(await refund(merchant, order, { amount: 1 }))).toEqual([400, 'RefundError']);
    expect(await ledgerOf(merchant, order)).toEqual([
      'sale approved 600',
      'chargeback approved 600',
      'chargeback_reversal approved 600',
      'refund approved 600',
    ]);
  });

  test('of an authorization: comes after its capture, with the amount captured', async () => {
    const order = await createAuthorization(merchant, { card: 'chargeback' });
    await capturePart(merchant, order, part(300));
    await makeDue(merchant, payingTransactionId(order));
    expect((await untilFollowUp(merchant, order, 'is-chargeback')).amount).toBe(300);
    expect((await capture(merchant, order)).body.amount).toBe(700);
    expect((await getWholeOrder(merchant, order)).amount_details).toMatchObject({ captured: 1_000, refundable: 700 });
  });

  test('rules 9.10: after a full refund is recorded too, with attention; the refundable amount is never below 0', async () => {
    const order = await merchant.paidOrder('chargeback', { amount: 400 });
    expect(outcomeInWords(await refund(merchant, order, { amount: 400 }))).toEqual([200, 'completed']);
    await makeDue(merchant, payingTransactionId(order));
    const charged_back = await untilFollowUp(merchant, order, 'is-chargeback');
    expect(charged_back).toMatchObject({ status: 'completed', amount: 400 });
    expect(await attentionOf(charged_back.id)).toMatch(/\w/);
    const original = await getWholeOrder(merchant, order);
    expect(original).toMatchObject({
      refunded_amount: 400,
      flags: ['is-test', 'has-refunds', 'has-chargebacks'],
      amount_details: { captured: 400, refunded: 400, refundable: 0 },
    });
    expect(await ledgerOf(merchant, order)).toEqual([
      'sale approved 400',
      'refund approved 400',
      'chargeback approved 400',
    ]);
  });

  test('notified twice is recorded once; two of them are two orders', async () => {
    const order = await merchant.paidOrder('approved', { amount: 500 });
    await controlSimulator(merchant, 'chargebacks', { transaction_id: payingTransactionId(order), amount: 100 });
    await untilFollowUp(merchant, order, 'is-chargeback');
    const [entry] = await entriesOf(merchant, order, 'chargeback');
    for (const _ of [1, 2]) {
      await controlSimulator(merchant, 'notifications', { idempotency_key: entry!.idempotency_key });
    }
    await controlSimulator(merchant, 'chargebacks', { transaction_id: payingTransactionId(order), amount: 150 });
    const twice = await untilOrder(
      merchant,
      order,
      'has two chargebacks',
      ({ chargeback_orders = [], amount_details }) =>
        chargeback_orders.length >= 2 && amount_details!.refundable === 250,
    );
    expect(twice.chargeback_orders).toHaveLength(2);
  });
});
