import { Merchant } from '../../support/client';
import { ledgerOf, getWholeOrder, refund, outcomeOf } from '../../journeys/requests';

/** Refunding, on the real stack; what it means for the order is in test/journeys/refunds.test.ts. */
const merchant = new Merchant();

test('gives the amount back and answers the refund order', async () => {
  const order = await merchant.paidOrder('approved', { amount: 420 });
  const { status, body } = await refund(merchant, order, { amount: 20, extra: { mine: 1 } });
  expect([status, body.amount, body.extra, body.refund_of_order_id]).toEqual([200, 20, { mine: 1 }, order.id]);
  expect(body.transactions![0]).toMatchObject({
    payment_method: 'credit-card-refund',
    credit_debit: 'debit',
    refund_of_transaction_id: order.transactions![0]!.id,
  });
  expect([(await getWholeOrder(merchant, order)).refunded_amount, await ledgerOf(merchant, order)]).toEqual([
    20,
    ['sale approved 420', 'refund approved 20'],
  ]);
});

test('throws RefundError for more than is left, and says how much that is', async () => {
  const order = await merchant.paidOrder('approved', { amount: 420 });
  await refund(merchant, order, { amount: 400 });
  const answer = await refund(merchant, order, { amount: 21 });
  expect([outcomeOf(answer), answer.body.error.value]).toEqual([[400, 'RefundError'], expect.stringContaining('20')]);
});

test('throws RefundError for an unpaid order, and says its status', async () => {
  const order = await merchant.createOrder();
  const answer = await refund(merchant, order, { amount: 1 });
  expect([outcomeOf(answer), answer.body.error.value]).toEqual([[400, 'RefundError'], expect.stringContaining('new')]);
});
