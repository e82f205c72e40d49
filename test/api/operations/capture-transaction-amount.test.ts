import { Merchant } from '../../support/client';
import { authorized, books, capturePart, part, said } from '../../journeys/following';

/** Capturing a part, on the real stack; what it means for the order is in test/journeys/captures.test.ts. */
const shop = new Merchant();

test('takes the amount and answers the capture order with its description', async () => {
  const order = await authorized(shop, { amount: 420, description: 'of the order' });
  const { status, body } = await capturePart(shop, order, { amount: 20, description: 'of the part' });
  expect([status, body.amount, body.description, body.transactions![0]!.transaction_type]).toEqual([
    200,
    20,
    'of the part',
    'capture',
  ]);
  expect(await books(shop, order)).toEqual(['authorize approved 420', 'capture approved 20']);
});

test('throws ValidationError on amount for more than is left, and says how much that is', async () => {
  const order = await authorized(shop, { amount: 420 });
  await capturePart(shop, order, part(400));
  const { status, body } = await capturePart(shop, order, part(21));
  expect([status, body.error.type, body.error.property_path, body.error.property_description]).toEqual([
    400,
    'ValidationError',
    'amount',
    expect.stringContaining('20'),
  ]);
});

test('throws Conflict where nothing is left, whatever the amount', async () => {
  const order = await authorized(shop, { amount: 420 });
  await capturePart(shop, order, part(420));
  for (const amount of [1, 421]) expect(said(await capturePart(shop, order, part(amount)))).toEqual([409, 'Conflict']);
});
