import { v7 as uuidv7 } from 'uuid';
import type { PaymentLink } from '../../../src/contract/payment-link';
import { Merchant, type Refusal } from '../../support/merchant';
import { stack } from '../../support/stack';

const merchant = new Merchant();
const advance = (id: string, body: unknown, who = merchant) =>
  who.send<PaymentLink & { error: Refusal }>('POST', `/v1/paymentlinks/${id}/test-clock/`, { body });

test('the answer is the link after the advance: expired at its end, with its time and a new ETag', async () => {
  const link = await merchant.createPaymentLink();
  expect(link).not.toHaveProperty('test_clock');
  const { status, headers, body } = await advance(link.id, { advance: 'P31D' });
  expect([status, body.status, body.reason]).toEqual([200, 'expired', 'Expired without a payment.']);
  expect(headers.get('etag')).not.toBe('"0"');
  const late = Date.parse(body.modified) - Date.parse(link.expires_at!);
  expect([late >= 0, late < 60_000]).toEqual([true, true]);
  expect(body.test_clock! > body.modified).toBe(true);
});

test('refused: neither way, a live project, another project, an unknown id', async () => {
  const live = new Merchant(stack(), stack().live_api_key);
  const { id } = await merchant.createPaymentLink();
  const refused = [
    await advance(id, {}),
    await advance((await live.createPaymentLink()).id, { advance: 'PT1H' }, live),
    await advance(id, { advance: 'PT1H' }, live),
    await advance(uuidv7(), { advance: 'PT1H' }),
  ];
  expect(refused.map(({ status, body }) => [status, body.error.type])).toEqual([
    [400, 'ValidationError'],
    [403, 'Forbidden'],
    [401, 'Unauthorized'],
    [404, 'NotFound'],
  ]);
});
