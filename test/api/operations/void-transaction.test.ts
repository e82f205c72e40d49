import { Merchant } from '../../support/client';
import { createAuthorization, ledgerOf, outcomeOf, voidAll, voidPart, part } from '../../journeys/requests';

/** Voiding all that is left, on the real stack; what it means for the order is in test/journeys/voids.test.ts. */
const merchant = new Merchant();

test('releases all that is left and answers the void order', async () => {
  const order = await createAuthorization(merchant, { amount: 420 });
  await voidPart(merchant, order, part(20));
  const { status, body } = await voidAll(merchant, order);
  expect([status, body.amount, body.flags, body.void_of_order_id]).toEqual([
    200,
    400,
    ['is-test', 'is-void'],
    order.id,
  ]);
  expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 420', 'void approved 20', 'void approved 400']);
});

test('needs no body: fields are ignored, except an amount, which is refused', async () => {
  const order = await createAuthorization(merchant, { amount: 420 });
  const refused = await voidAll(merchant, order, {}, { amount: 1 });
  expect([outcomeOf(refused), refused.body]).toMatchObject([
    [400, 'ValidationError'],
    { error: { property_path: 'amount' } },
  ]);
  expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 420']);
  expect((await voidAll(merchant, order, {}, { description: 'ignored' })).body).toMatchObject({ amount: 420 });
});

test('throws CanNotCancelTransaction where nothing is held', async () => {
  const sale = await merchant.paidOrder('approved');
  expect(outcomeOf(await voidAll(merchant, sale))).toEqual([409, 'CanNotCancelTransaction']);
  expect(await ledgerOf(merchant, sale)).toHaveLength(1);
});
