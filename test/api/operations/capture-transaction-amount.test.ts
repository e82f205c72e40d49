import { Merchant } from '../../support/client';
import { createAuthorization, ledgerOf, capturePart, part, outcomeOf } from '../../journeys/requests';

/** Capturing a part, on the real stack; what it means for the order is in test/journeys/captures.test.ts. */
const merchant = new Merchant();

test('takes the amount and answers the capture order with its description', async () => {
  const order = await createAuthorization(merchant, { amount: 420, description: 'of the order' });
  const { status, body } = await capturePart(merchant, order, { amount: 20, description: 'of the part' });
  expect([status, body.amount, body.description, body.transactions![0]!.transaction_type]).toEqual([
    200,
    20,
    'of the part',
    'capture',
  ]);
  expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 420', 'capture approved 20']);
});

test('throws ValidationError on amount for more than is left, and says how much that is', async () => {
  const order = await createAuthorization(merchant, { amount: 420 });
  await capturePart(merchant, order, part(400));
  const { status, body } = await capturePart(merchant, order, part(21));
  expect([status, body.error.type, body.error.property_path, body.error.property_description]).toEqual([
    400,
    'ValidationError',
    'amount',
    expect.stringContaining('20'),
  ]);
});

test('throws Conflict where nothing is left, whatever the amount', async () => {
  const order = await createAuthorization(merchant, { amount: 420 });
  await capturePart(merchant, order, part(420));
  for (const amount of [1, 421]) {
    expect(outcomeOf(await capturePart(merchant, order, part(amount)))).toEqual([409, 'Conflict']);
  }
});
