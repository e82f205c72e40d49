import { Merchant } from '../../support/client';
import { authorized, books, said, voidAll, voidPart, part } from '../../journeys/following';

/** Voiding all that is left, on the real stack; what it means for the order is in test/journeys/voids.test.ts. */
const shop = new Merchant();

test('releases all that is left and answers the void order', async () => {
  const order = await authorized(shop, { amount: 420 });
  await voidPart(shop, order, part(20));
  const { status, body } = await voidAll(shop, order);
  expect([status, body.amount, body.flags, body.void_of_order_id]).toEqual([
    200,
    400,
    ['is-test', 'is-void'],
    order.id,
  ]);
  expect(await books(shop, order)).toEqual(['authorize approved 420', 'void approved 20', 'void approved 400']);
});

test('nothing is to be said: what is said is ignored, but for an amount, which is refused', async () => {
  const order = await authorized(shop, { amount: 420 });
  const refused = await voidAll(shop, order, {}, { amount: 1 });
  expect([said(refused), refused.body]).toMatchObject([
    [400, 'ValidationError'],
    { error: { property_path: 'amount' } },
  ]);
  expect(await books(shop, order)).toEqual(['authorize approved 420']);
  expect((await voidAll(shop, order, {}, { description: 'ignored' })).body).toMatchObject({ amount: 420 });
});

test('throws CanNotCancelTransaction where nothing is held', async () => {
  const sale = await shop.paidOrder('approved');
  expect(said(await voidAll(shop, sale))).toEqual([409, 'CanNotCancelTransaction']);
  expect(await books(shop, sale)).toHaveLength(1);
});
