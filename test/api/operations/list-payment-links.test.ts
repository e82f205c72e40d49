import { v4 as uuid } from 'uuid';
import type { PaymentLink } from '../../../src/contract/payment-link';
import { withDatabase } from '../../../src/db/connection';
import type { Merchant, RefusalName } from '../../support/merchant';
import { createTestProject } from '../../support/operator';
import { stack } from '../../support/stack';

const list = (merchant: Merchant, query = '') =>
  merchant.send<PaymentLink[] & { error: RefusalName }>('GET', `/v1/paymentlinks/${query}`);

test('the links of the project, newest first, within the period', async () => {
  const { merchant } = await createTestProject();
  const links = [await merchant.createPaymentLink(), await merchant.createPaymentLink()];
  expect((await list(merchant)).body).toEqual(links.toReversed());
  const until = encodeURIComponent(links[0]!.created);
  expect((await list(merchant, `?created_until=${until}`)).body).toEqual([links[0]]);
  expect((await list(merchant, '?created_since=yesterday')).body.error.property_path).toBe('created_since');
});

test('links of several pages, two of each instant: every one once, newest first', async () => {
  const { id: project_id, merchant } = await createTestProject();
  const start = Date.now() - 60_000;
  const rows = Array.from({ length: 255 }, (_, n) => ({
    id: uuid(),
    project_id,
    merchant_order_id: `L-${n}`,
    amount: n,
    currency: 'EUR',
    expiration_period: 'P30D',
    expires_at: new Date(start + 86_400_000),
    status: 'new',
    created: new Date(start + n - (n % 2)),
    modified: new Date(start + n),
  }));
  await withDatabase(stack().postgres_url, (db) => db.batchInsert('payment_links', rows, 255));
  const { body } = await list(merchant);
  expect(body.map(({ id }) => id).toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
  const created = body.map((link) => link.created);
  expect(created).toEqual(created.toSorted().toReversed());
});
