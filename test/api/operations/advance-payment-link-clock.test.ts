import type { PaymentLink } from '../../../src/contract/payment-link';
import { Merchant } from '../../support/merchant';

const merchant = new Merchant();
const advance = (id: string, body: unknown, headers: Record<string, string> = {}) =>
  merchant.send<PaymentLink>('POST', `/v1/paymentlinks/${id}/test-clock/`, { body, headers });

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

test('rules 11.9: of three advances at once with one tag, one is made', async () => {
  const { id } = await merchant.createPaymentLink();
  const answers = await Promise.all([1, 2, 3].map(() => advance(id, { advance: 'P1D' }, { 'if-match': '"0"' })));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412, 412]);
  const { test_clock } = await merchant.getPaymentLink(id);
  expect(Math.round((Date.parse(test_clock!) - Date.now()) / (24 * 60 * 60_000))).toBe(1);
});
