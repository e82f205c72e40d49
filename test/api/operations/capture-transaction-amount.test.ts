import { Merchant } from '../../support/merchant';
import { capturePart, createAuthorization, outcomeInWords, part } from '../../support/merchant-payments';

/** Capturing a part, on the real stack; all else of it is in test/journeys/captures.test.ts and follow-ups.test.ts. */
test('rules 8.7: throws ValidationError on amount for more than is left, and says how much that is', async () => {
  const merchant = new Merchant();
  const order = await createAuthorization(merchant, { amount: 420 });
  await capturePart(merchant, order, part(400));
  const answer = await capturePart(merchant, order, part(21));
  expect([outcomeInWords(answer), answer.body.error]).toMatchObject([
    [400, 'ValidationError'],
    { property_path: 'amount', property_description: expect.stringContaining('20') as string },
  ]);
});
