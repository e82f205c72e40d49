import { orderSchema } from '../../src/contract/order';
import { CARD, Client } from '../support/customer';
import { CARDS } from '../support/domain';
import { ledgerOf } from '../support/ledger';
import { Merchant, newIdempotencyKey, statusesOf, webhookOf } from '../support/merchant';
import {
  amountDetailsOf,
  expectNothingEmpty,
  getWholeOrder,
  makeDue,
  outcomeInWords,
  payingTransactionId,
  refund,
} from '../support/merchant-payments';
import { startReceiver } from '../support/servers';
import { TIMESTAMP, UUID } from '../support/shapes';

/** Captured money that is given back. */
const merchant = new Merchant();

describe('a refund', () => {
  test('rules 9.1, 9.3, 9.4 and 9.5: in full: an order of its own with is-refund, refund_of_order_id and a debit transaction that names the original', async () => {
    const order = await merchant.paidOrder('approved', {
      amount: 700,
      description: 'A lamp',
      merchant_order_id: 'M-9',
      extra: { mine: 1 },
      return_url: 'https://shop.example/',
      customer: { first_name: 'Ada' },
    });
    const answer = await refund(merchant, order, { amount: 700 });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
    const refunded = orderSchema.parse(answer.body);
    expect(refunded).toEqual({
      id: UUID,
      project_id: order.project_id,
      merchant_id: order.merchant_id,
      merchant_name: 'Demo Books',
      merchant_order_id: 'M-9',
      description: 'A lamp',
      currency: 'EUR',
      amount: 700,
      status: 'completed',
      flags: ['is-test', 'is-refund'],
      created: TIMESTAMP,
      modified: TIMESTAMP,
      completed: TIMESTAMP,
      refund_of_order_id: order.id,
      related_order_id: order.id,
      transactions: [
        {
          id: UUID,
          order_id: refunded.id,
          created: TIMESTAMP,
          modified: TIMESTAMP,
          amount: 700,
          currency: 'EUR',
          credit_debit: 'debit',
          payment_method: 'credit-card-refund',
          payment_method_brand: 'visa',
          payment_method_details: {
            truncated_pan: '411111******1111',
            card_expiry: '122034',
            cardholder_name: 'Ada Lovelace',
          },
          transaction_type: 'refund',
          refund_of_transaction_id: order.transactions![0]!.id,
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
    expect(await merchant.getOrder(refunded.id)).toEqual(refunded);

    const original = orderSchema.parse(await getWholeOrder(merchant, order));
    expect(original).toMatchObject({
      status: 'completed',
      refunded_amount: 700,
      refund_orders: [refunded.id],
      related_orders: [refunded.id],
      flags: ['is-test', 'has-refunds'],
    });
    expect(original.amount_details).toEqual({
      capturable: 0,
      captured: 700,
      refundable: 0,
      refunded: 700,
      voidable: 0,
      voided: 0,
    });
    expect(statusesOf(original)).toBe('completed: accepted');
    expectNothingEmpty(original);
    expect(await ledgerOf(merchant, order)).toEqual(['sale approved 700', 'refund approved 700']);
  });

  test('rules 9.3 and 9.8: in parts, with a description, reference and extra of its own; repeated while the total stays within the original amount', async () => {
    const order = await merchant.paidOrder('approved', { amount: 1_000, description: 'A lamp' });
    const extra = { why: { list: [1, null, {}], empty: [] } };
    const first = await refund(
      merchant,
      order,
      { amount: 600, description: 'Broken', merchant_order_id: 'R-1', extra },
      { slash: false },
    );
    expect(first.body).toMatchObject({
      amount: 600,
      description: 'Broken',
      merchant_order_id: 'R-1',
      status: 'completed',
    });
    expect(first.body.extra).toEqual(extra);
    expect((await merchant.getOrder(first.body.id)).extra).toEqual(extra);
    const second = await refund(merchant, order, { amount: 399 });
    expect(second.body).toMatchObject({ amount: 399, description: 'A lamp' });
    expect(second.body).not.toHaveProperty('extra');
    const over = await refund(merchant, order, { amount: 2 });
    expect(outcomeInWords(over)).toEqual([400, 'RefundError']);
    expect(outcomeInWords(await refund(merchant, order, { amount: 1 }))).toEqual([200, 'completed']);
    expect(outcomeInWords(await refund(merchant, order, { amount: 1 }))).toEqual([400, 'RefundError']);
    const original = await getWholeOrder(merchant, order);
    expect([original.refunded_amount, original.refund_orders!.length, original.related_orders]).toEqual([
      1_000,
      3,
      original.refund_orders,
    ]);
    expect(await ledgerOf(merchant, order)).toEqual([
      'sale approved 1000',
      'refund approved 600',
      'refund approved 399',
      'refund approved 1',
    ]);
  });

  test('of the attempt that paid, where others were declined', async () => {
    const order = await merchant.createOrder();
    const customer = new Client();
    await customer.postForm(`/pay/${order.id}/`, {
      ...CARD,
      number: CARDS.do_not_honor.number,
      ...(await customer.openPage(order)),
    });
    await customer.postForm(`/pay/${order.id}/`, { ...CARD, ...(await customer.openPage(order)) });
    const paid = await getWholeOrder(merchant, order);
    expect((await refund(merchant, order, { amount: 50 })).body.transactions![0]!.refund_of_transaction_id).toBe(
      paid.transactions![1]!.id,
    );
    expect((await getWholeOrder(merchant, order)).order_url).toBe(order.order_url);
  });
});

test('rules 9.2 and 9.6: processing: 200, the amount is set aside; completed later, with a webhook; repeated: its first answer', async () => {
  const receiver = await startReceiver();
  try {
    const order = await merchant.paidOrder('refund_processing', { amount: 500, webhook_url: receiver.url });
    await receiver.waitFor(1);
    const headers = { 'idempotency-key': newIdempotencyKey() };
    const { status, body } = await refund(merchant, order, { amount: 300 }, { headers });
    expect([status, statusesOf(body)]).toEqual([200, 'processing: processing']);
    expect(body.transactions![0]).not.toHaveProperty('outcomes');
    expect(await amountDetailsOf(merchant, order)).toMatchObject({ refundable: 200, refunded: 0 });
    expect(outcomeInWords(await refund(merchant, order, { amount: 201 }))).toEqual([400, 'RefundError']);
    expect((await getWholeOrder(merchant, order)).flags).toEqual(['is-test']);
    await makeDue(merchant, payingTransactionId(order));
    const refunded = await merchant.untilStatus(body.id, 'completed');
    expect(refunded.transactions![0]!.events!.map(({ event }) => event)).toEqual(['new', 'processing', 'accepted']);
    expect(await amountDetailsOf(merchant, order)).toMatchObject({ refundable: 200, refunded: 300 });
    expect((await getWholeOrder(merchant, order)).flags).toEqual(['is-test', 'has-refunds']);
    // new → processing, processing → completed; of the original nothing more.
    await receiver.waitFor(3);
    expect(receiver.received.map((one) => webhookOf(one.body).order_id)).toEqual([order.id, body.id, body.id]);
    expect((await refund(merchant, order, { amount: 300 }, { headers })).body).toEqual(body);
    expect(await ledgerOf(merchant, order)).toEqual(['sale approved 500', 'refund approved 300']);
  } finally {
    await receiver.close();
  }
}, 300_000);
