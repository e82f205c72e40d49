import { paymentLinkWorkflowId } from '../../workflows/messages';
import { readLedger } from '../support/ledger';
import { CARD, Client } from '../support/customer';
import { CARDS } from '../support/domain';
import { Merchant, webhookOf } from '../support/merchant';
import { startReceiver } from '../support/servers';
import { stack } from '../support/stack';
import { withTemporal } from '../support/temporal-client';
import { until } from '../support/waits';

/** PAYMENT_LINKS=50 for 50 links one after the other, which takes minutes. */
const LINKS = Number(process.env['PAYMENT_LINKS'] ?? 1);
const PAYERS = 40;

const merchant = new Merchant();

/** The page of a link as one more customer sees it. */
async function aPayer(payment_url: string) {
  const customer = new Client();
  const { pathname } = new URL(payment_url);
  const form = { ...CARD, ...(await customer.openPage({ id: '' }, pathname)) };
  return (number: string) => customer.postForm(pathname, { ...form, number });
}

test(`rules 19.4: ${PAYERS} payers pay at the same moment on a link: one is charged, none gets an error`, async () => {
  for (let n = 1; n <= LINKS; n += 1) {
    const { id, payment_url } = await merchant.createPaymentLink();
    const payers = await Promise.all(Array.from({ length: PAYERS }, () => aPayer(payment_url)));
    const answers = await Promise.all(payers.map((pay) => pay(CARDS.approved.number)));
    expect(answers.filter(({ status }) => status >= 500 && status !== 503)).toEqual([]);
    const link = await until('the link is paid', async () => {
      const view = await merchant.getPaymentLink(id);
      return view.status === 'completed' && view;
    });
    expect(link.orders).toEqual({ completed: [link.completed_order_id] });
    expect(await readLedger(link.completed_order_id!)).toMatchObject([{ operation: 'sale', result: 'approved' }]);
    const pages = await Promise.all(answers.map((answer) => answer.text()));
    expect(pages.filter((page) => page.includes('Payment completed')).length).toBeLessThanOrEqual(1);
  }
}, 600_000);

test('webhooks of its orders go to the link’s webhook_url, one for each change', async () => {
  const receiver = await startReceiver();
  try {
    const { id, payment_url } = await merchant.createPaymentLink({ webhook_url: receiver.url });
    await (
      await aPayer(payment_url)
    )(CARDS.do_not_honor.number);
    await (
      await aPayer(payment_url)
    )(CARDS.approved.number);
    await receiver.waitFor(2);
    const { orders } = await merchant.getPaymentLink(id);
    const notified = receiver.received.map(({ body }) => webhookOf(body).order_id);
    expect(notified.toSorted()).toEqual([...orders['error']!, ...orders['completed']!].toSorted());
  } finally {
    await receiver.close();
  }
});

test('a link whose workflow was terminated is paid all the same, and ended all the same', async () => {
  const [paid, ended] = [await merchant.createPaymentLink(), await merchant.createPaymentLink()];
  await withTemporal(stack(), async ({ workflow }) => {
    for (const { id } of [paid, ended]) await workflow.getHandle(paymentLinkWorkflowId(id)).terminate('by mistake');
  });
  await (
    await aPayer(paid.payment_url)
  )(CARDS.approved.number);
  expect((await merchant.getPaymentLink(paid.id)).status).toBe('completed');
  const answer = await merchant.send<{ status: string }>('DELETE', `/v1/paymentlinks/${ended.id}/`);
  expect([answer.status, answer.body.status]).toEqual([200, 'expired']);
});
