import type { PaymentLink } from '../../../src/contract/payment-link';
import { Merchant } from '../../support/merchant';

const merchant = new Merchant();
const advance = (id: string, body: unknown) =>
  merchant.send<PaymentLink>('POST', `/v1/paymentlinks/${id}/test-clock/`, { body });

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
