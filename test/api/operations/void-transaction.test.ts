import { ledgerOf } from '../../support/ledger';
import { Merchant } from '../../support/merchant';
import { createAuthorization, outcomeInWords, voidAll } from '../../support/merchant-payments';

/**
 * Voiding all that is left, on the real stack; all else of it is in test/journeys/voids.test.ts and follow-ups.test.ts.
 */
test('rules 1.10: needs no body: fields are ignored, except an amount, which is refused', async () => {
  const merchant = new Merchant();
  const order = await createAuthorization(merchant, { amount: 420 });
  const refused = await voidAll(merchant, order, {}, { amount: 1 });
  expect([outcomeInWords(refused), refused.body.error.property_path]).toEqual([[400, 'ValidationError'], 'amount']);
  expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 420']);
  expect((await voidAll(merchant, order, {}, { description: 'ignored' })).body).toMatchObject({ amount: 420 });
});
