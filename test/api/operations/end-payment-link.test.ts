import type { PaymentLink } from '../../../src/contract/payment-link';
import { Merchant, type RefusalName } from '../../support/merchant';

const merchant = new Merchant();
const end = (id: string, headers: Record<string, string> = {}) =>
  merchant.send<PaymentLink & { error: RefusalName }>('DELETE', `/v1/paymentlinks/${id}/`, { headers });

test('rules 19.11: the link is expired, ended by the merchant; again answers the same', async () => {
  const { id } = await merchant.createPaymentLink();
  const answers = [await end(id), await end(id)];
  expect(answers.map(({ status, body }) => [status, body.status, body.reason, body.expires_at])).toEqual(
    Array(2).fill([200, 'expired', 'Ended by the merchant.', undefined]),
  );
  expect(answers[1]!.body).toEqual(answers[0]!.body);
});

test('If-Match of another version: PreconditionFailed, and the link stays', async () => {
  const { id } = await merchant.createPaymentLink();
  expect((await end(id, { 'if-match': '"7"' })).body.error.type).toBe('PreconditionFailed');
  expect((await end(id, { 'if-match': '"0"' })).body.status).toBe('expired');
});
