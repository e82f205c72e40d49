import { Merchant } from '../../support/merchant';
import { outcomeInWords, refund } from '../../support/merchant-payments';

/**
 * Refunding, on the real stack. An amount above what is left: test/src/domain/follow-up.test.ts; all else:
 * test/journeys/refunds.test.ts and follow-ups.test.ts.
 */
const merchant = new Merchant();

test('rules 9.8: throws RefundError for an order without a transaction, and says its status', async () => {
  const answer = await refund(merchant, await merchant.createOrder(), { amount: 1 });
  expect([outcomeInWords(answer), answer.body.error.value]).toEqual([
    [400, 'RefundError'],
    expect.stringContaining('new'),
  ]);
});
