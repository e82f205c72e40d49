import { v7 as uuidv7 } from 'uuid';
import type { PaymentLink } from '../../../src/contract/payment-link';
import { Merchant, type RefusalName } from '../../support/merchant';
import { stack } from '../../support/stack';

const merchant = new Merchant();
const get = (who: Merchant, id: string, headers: Record<string, string> = {}) =>
  who.send<PaymentLink & { error: RefusalName }>('GET', `/v1/paymentlinks/${id}/`, { headers });

test('the link as it was created, with its ETag; 401 for another project, 404 for an unknown id, 400 for no uuid', async () => {
  const link = await merchant.createPaymentLink();
  const answer = await get(merchant, link.id);
  expect([answer.status, answer.body]).toEqual([200, link]);
  expect(answer.headers.get('etag')).toBe('"0"');
  const refused = [
    await get(new Merchant(stack(), stack().live_api_key), link.id),
    await get(merchant, uuidv7()),
    await get(merchant, 'x'),
  ];
  expect(refused.map(({ status, body }) => [status, body.error.type])).toEqual([
    [401, 'Unauthorized'],
    [404, 'NotFound'],
    [400, 'ValidationError'],
  ]);
});
