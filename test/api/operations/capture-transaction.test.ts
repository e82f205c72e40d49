import { Merchant } from '../../support/client';
import { createAuthorization, ledgerOf, capture, outcomeOf } from '../../journeys/requests';

/** Capturing all that is left, on the real stack; what it means for the order is in test/journeys/captures.test.ts. */
const merchant = new Merchant();

test('takes all that is left and answers the capture order', async () => {
  const order = await createAuthorization(merchant, { amount: 420 });
  const { status, body } = await capture(merchant, order);
  expect([status, body.amount, body.flags, body.capture_of_order_id]).toEqual([
    200,
    420,
    ['is-test', 'is-capture'],
    order.id,
  ]);
  expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 420', 'capture approved 420']);
});

test('needs no body: fields are ignored, except an amount, which is refused', async () => {
  const order = await createAuthorization(merchant, { amount: 420 });
  const refused = await capture(merchant, order, {}, { amount: 1 });
  expect([outcomeOf(refused), refused.body]).toMatchObject([
    [400, 'ValidationError'],
    { error: { property_path: 'amount' } },
  ]);
  expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 420']);
  expect((await capture(merchant, order, {}, { description: 'ignored' })).body).toMatchObject({ amount: 420 });
});

test('throws Conflict where nothing is held', async () => {
  const sale = await merchant.paidOrder('approved');
  expect(outcomeOf(await capture(merchant, sale))).toEqual([409, 'Conflict']);
  expect(await ledgerOf(merchant, sale)).toHaveLength(1);
});
