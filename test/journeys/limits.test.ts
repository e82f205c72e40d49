import { DEPTH_MAX } from '../../src/contract/request';
import { FREE_FORM_BYTES_MAX, FREE_FORM_LIST_BYTES_MAX } from '../../src/contract/scalars';
import type { OrderRequest } from '../../src/client';
import { Merchant } from '../support/merchant';
import { capturePart, createAuthorization, refund } from '../support/merchant-payments';

/**
 * What an order may hold at most is stored and comes back. What holds more is refused in
 * test/src/contract/request.test.ts.
 */
const merchant = new Merchant();

/** JSON of exactly so many bytes. */
const freeForm = (bytes: number) => ({ x: 'x'.repeat(bytes - '{"x":""}'.length) });
/** An object with so many objects in one another, itself included. */
const nested = (levels: number): Record<string, unknown> => (levels === 1 ? {} : { a: nested(levels - 1) });

test('rules 18.3 and 18.4: an order with every field at its limit comes back as it was sent', async () => {
  const limits: OrderRequest[] = [
    {
      currency: 'EUR',
      amount: Number.MAX_SAFE_INTEGER,
      merchant_order_id: 'x'.repeat(255),
      description: 'é'.repeat(4_096),
      return_url: 'https://shop.example/'.padEnd(4_096, 'x'),
      extra: freeForm(FREE_FORM_BYTES_MAX),
      client: freeForm(FREE_FORM_BYTES_MAX),
      order_lines: [freeForm(FREE_FORM_LIST_BYTES_MAX - '[]'.length)],
      expiration_period: 'P30D',
    },
    // The body is the first level, extra the second.
    { currency: 'EUR', amount: 0, expiration_period: 'PT1S', extra: nested(DEPTH_MAX - 1) },
  ];
  for (const fields of limits) {
    const { id } = await merchant.createOrder({ ...fields });
    expect(await merchant.getOrder(id)).toMatchObject(fields);
  }
});

test('rules 18.4: a character outside the Basic Multilingual Plane is one, for orders, links, captures and refunds', async () => {
  const texts = { merchant_order_id: '😀'.repeat(255), description: '😀'.repeat(4_096) };
  const { description } = texts;
  expect(await merchant.createPaymentLink(texts)).toMatchObject(texts);
  const held = await createAuthorization(merchant, texts);
  expect(held).toMatchObject(texts);
  expect((await capturePart(merchant, held, { amount: 100, description })).body).toMatchObject({ description });
  expect((await refund(merchant, held, { amount: 50, ...texts })).body).toMatchObject(texts);
});
