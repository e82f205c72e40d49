import { Merchant } from '../../support/merchant';
import { outcomeInWords, refund } from '../../support/merchant-payments';

/** Refunding, on the real stack; all else of it is in test/journeys/refunds.test.ts and follow-ups.test.ts. */
const merchant = new Merchant();

test('rules 9.8: throws RefundError for more than is left, and says how much that is', async () => {
  const order = await merchant.paidOrder('approved', { amount: 420 });
  await refund(merchant, order, { amount: 400 });
  const answer = await refund(merchant, order, { amount: 21 });
  expect([outcomeInWords(answer), answer.body.error.value]).toEqual([
    [400, 'RefundError'],
    expect.stringContaining('20'),
  ]);
});

test('rules 9.8: throws RefundError for an order without a transaction, and says its status', async () => {
  const answer = await refund(merchant, await merchant.createOrder(), { amount: 1 });
  expect([outcomeInWords(answer), answer.body.error.value]).toEqual([
    [400, 'RefundError'],
    expect.stringContaining('new'),
  ]);
});
