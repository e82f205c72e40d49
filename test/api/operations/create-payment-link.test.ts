import { paymentLinkSchema, type PaymentLink } from '../../../src/contract/payment-link';
import { Merchant, newIdempotencyKey, type RefusalName } from '../../support/merchant';
import { UUID } from '../../support/shapes';

const merchant = new Merchant();
const LINK = { merchant_order_id: 'L-1', amount: 1_250, currency: 'EUR' };
const create = (body: unknown, headers: Record<string, string> = {}) =>
  merchant.send<PaymentLink & { error: RefusalName }>('POST', '/v1/paymentlinks/', { body, headers });

test('rules 19.1 and 19.2: 201 with the link: new, without orders, with its address and the default of 30 days', async () => {
  const { status, body } = await create({ ...LINK, description: 'Two books', return_url: 'https://shop.example/' });
  expect(status).toBe(201);
  expect(paymentLinkSchema.parse(body)).toMatchObject({
    ...LINK,
    id: UUID,
    description: 'Two books',
    status: 'new',
    reason: 'No payment was tried yet.',
    orders: {},
    expiration_period: 'P30D',
    return_url: 'https://shop.example/',
  });
  expect(body.payment_url).toBe(`${merchant.stack.api_url}/paymentlinks/${body.id}/`);
  const lives_ms = Date.parse(body.expires_at ?? '') - Date.parse(body.created);
  expect(lives_ms).toBe(30 * 24 * 60 * 60_000);
});

test.each([
  ['no merchant_order_id', { ...LINK, merchant_order_id: undefined }, 'merchant_order_id'],
  ['an empty merchant_order_id', { ...LINK, merchant_order_id: '' }, 'merchant_order_id'],
  ['an unknown method', { ...LINK, payment_methods: ['credit-card', 'barter'] }, 'payment_methods.1'],
  ['a currency that the project lacks', { ...LINK, currency: 'ISK' }, 'currency'],
  ['more than 365 days', { ...LINK, expiration_period: 'P366D' }, 'expiration_period'],
])('rules 19.1: %s: ValidationError that names the field', async (_what, body, path) => {
  const answer = await create(body);
  expect([answer.status, answer.body.error.type, answer.body.error.property_path]).toEqual([
    400,
    'ValidationError',
    path,
  ]);
});

test('with an Idempotency-Key, also at once, one link and one answer', async () => {
  const headers = { 'idempotency-key': newIdempotencyKey() };
  const answers = await Promise.all([create(LINK, headers), create(LINK, headers), create(LINK, headers)]);
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect((await create({ ...LINK, amount: 1 }, headers)).body.error.type).toBe('IdempotencyKeyReused');
});
