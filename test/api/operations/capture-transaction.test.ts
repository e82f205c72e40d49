import { Merchant } from '../../support/client';
import { authorized, books, capture, said } from '../../journeys/following';

/** Capturing all that is left, on the real stack; what it means for the order is in test/journeys/captures.test.ts. */
const shop = new Merchant();

test('takes all that is left and answers the capture order', async () => {
  const order = await authorized(shop, { amount: 420 });
  const { status, body } = await capture(shop, order);
  expect([status, body.amount, body.flags, body.capture_of_order_id]).toEqual([
    200,
    420,
    ['is-test', 'is-capture'],
    order.id,
  ]);
  expect(await books(shop, order)).toEqual(['authorize approved 420', 'capture approved 420']);
});

test('nothing is to be said: what is said is ignored, but for an amount, which is refused', async () => {
  const order = await authorized(shop, { amount: 420 });
  const refused = await capture(shop, order, {}, { amount: 1 });
  expect([said(refused), refused.body]).toMatchObject([
    [400, 'ValidationError'],
    { error: { property_path: 'amount' } },
  ]);
  expect(await books(shop, order)).toEqual(['authorize approved 420']);
  expect((await capture(shop, order, {}, { description: 'ignored' })).body).toMatchObject({ amount: 420 });
});

test('throws Conflict where nothing is held', async () => {
  const sale = await shop.paidOrder('approved');
  expect(said(await capture(shop, sale))).toEqual([409, 'Conflict']);
  expect(await books(shop, sale)).toHaveLength(1);
});
