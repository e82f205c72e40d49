import type { PaymentLink } from '../../../src/contract/payment-link';
import type { Refusal } from '../../support/client';
import { aProject } from '../../support/projects';

test('the links of the project, newest first, within the period', async () => {
  const { shop } = await aProject();
  const links = [await shop.createPaymentLink(), await shop.createPaymentLink()];
  const list = (query: string) => shop.send<PaymentLink[] & { error: Refusal }>('GET', `/v1/paymentlinks/${query}`);
  expect((await list('')).body).toEqual(links.toReversed());
  const until = encodeURIComponent(links[0]!.created);
  expect((await list(`?created_until=${until}`)).body).toEqual([links[0]]);
  expect((await list('?created_since=yesterday')).body.error.property_path).toBe('created_since');
});
