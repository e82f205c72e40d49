import type { PaymentLink } from '../../../src/contract/payment-link';
import type { Refusal } from '../../support/client';
import { createTestProject } from '../../support/projects';

test('the links of the project, newest first, within the period', async () => {
  const { merchant } = await createTestProject();
  const links = [await merchant.createPaymentLink(), await merchant.createPaymentLink()];
  const list = (query: string) => merchant.send<PaymentLink[] & { error: Refusal }>('GET', `/v1/paymentlinks/${query}`);
  expect((await list('')).body).toEqual(links.toReversed());
  const until = encodeURIComponent(links[0]!.created);
  expect((await list(`?created_until=${until}`)).body).toEqual([links[0]]);
  expect((await list('?created_since=yesterday')).body.error.property_path).toBe('created_since');
});
