import { DEPTH_MAX } from '../../src/contract/request';
import { FREE_FORM_BYTES_MAX, FREE_FORM_LIST_BYTES_MAX } from '../../src/contract/scalars';
import { createOrder, getProject, type Order, type OrderRequest } from '../../src/client';
import { answerOf, Merchant, type Refusal } from '../support/merchant';

/**
 * What an order may hold at most, each limit from both sides: what fits comes back as it was sent, what does not leaves
 * nothing.
 */
const merchant = new Merchant();
const create = (fields: Partial<OrderRequest>) =>
  answerOf<Order & { error: Refusal }>(
    createOrder({ orderRequest: { currency: 'EUR', amount: 1, ...fields } }, merchant.project),
  );

/** JSON of exactly so many bytes. */
const freeForm = (bytes: number) => ({ x: 'x'.repeat(bytes - '{"x":""}'.length) });
/** An object with so many objects in one another, itself included. */
const nested = (levels: number): Record<string, unknown> => (levels === 1 ? {} : { a: nested(levels - 1) });
const url = (length: number) => 'https://shop.example/'.padEnd(length, 'x');

test.each<[field: string, fits: unknown, tooLarge: unknown]>([
  ['amount', Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER + 1],
  ['amount', 0, -1],
  ['amount', 1, 1.5],
  ['merchant_order_id', 'x'.repeat(255), 'x'.repeat(256)],
  ['description', 'é'.repeat(4_096), 'é'.repeat(4_097)],
  ['return_url', url(4_096), url(4_097)],
  ['extra', freeForm(FREE_FORM_BYTES_MAX), freeForm(FREE_FORM_BYTES_MAX + 1)],
  ['client', freeForm(FREE_FORM_BYTES_MAX), freeForm(FREE_FORM_BYTES_MAX + 1)],
  ['order_lines', [freeForm(FREE_FORM_LIST_BYTES_MAX - 2)], [freeForm(FREE_FORM_LIST_BYTES_MAX - 1)]],
  ['expiration_period', 'P30D', 'P30DT1S'],
  ['expiration_period', 'PT1S', 'PT0.9S'],
])('%s has its limit (%#)', async (field, fits, tooLarge) => {
  const accepted = await create({ [field]: fits });
  expect(accepted.status).toBe(200);
  expect(await merchant.getOrder(accepted.body.id)).toMatchObject({ [field]: fits === 0 ? 0 : fits });
  const refused = await create({ [field]: tooLarge });
  expect([refused.status, refused.body.error]).toMatchObject([400, { type: 'ValidationError', property_path: field }]);
});

test('rules 18.2: a body may be nested to its limit, and no level deeper', async () => {
  // The body is the first level, extra the second.
  const extra = nested(DEPTH_MAX - 1);
  expect((await create({ extra })).body.extra).toEqual(extra);
  const refused = await create({ extra: { a: extra } });
  expect([refused.status, refused.body.error.value]).toMatchObject([400, expect.stringMatching('levels')]);
  const absurd = await merchant.send<{ error: Refusal }>('POST', '/v1/orders/', {
    body: `{"currency":"EUR","amount":1,"extra":${'{"a":'.repeat(30_000)}1${'}'.repeat(30_000)}}`,
  });
  expect([absurd.status, absurd.body.error.type]).toEqual([400, 'ValidationError']);
});

test('a body of 256 KiB is the largest: 413, with an Idempotency-Key too', async () => {
  const body = (bytes: number) =>
    `{"currency":"EUR","amount":1,"unknown":"${'x'.repeat(bytes - '{"currency":"EUR","amount":1,"unknown":""}'.length)}"}`;
  expect((await merchant.send('POST', '/v1/orders/', { body: body(256 * 1024) })).status).toBe(200);
  for (const headers of [{}, { 'idempotency-key': `large-${process.pid}` }]) {
    const refused = await merchant.send<{ error: Refusal }>('POST', '/v1/orders/', {
      body: body(256 * 1024 + 1),
      headers,
    });
    expect([refused.status, refused.body.error.type]).toEqual([413, 'PayloadTooLarge']);
  }
});

test('the stack of the tests is not throttled', async () => {
  const { headers } = await getProject(merchant.project);
  expect(headers.get('ratelimit')).toBeNull();
});
