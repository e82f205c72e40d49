import { readLedger } from '../support/ledger';
import { CARD, Client, createPageOrder, makeOrderDue, orderAsMerchant, readStatuses } from '../support/customer';
import { CARDS, type CardName } from '../support/domain';
import { Merchant } from '../support/merchant';
import { stack } from '../support/stack';
import { until } from '../support/waits';

/**
 * Every test card by token over REST: one charge each, answered as the table says. On the hosted page the challenge;
 * the form is the same for all cards (test/api/page). What a card does after the payment (captures, refunds,
 * chargebacks) is not part of the sale, which is approved.
 */
const ENDS: Record<CardName, { at_once: string; in_the_end?: string }> = {
  approved: { at_once: 'accepted' },
  approved_mastercard: { at_once: 'accepted' },
  do_not_honor: { at_once: 'error' },
  stolen: { at_once: 'error' },
  insufficient_funds: { at_once: 'error' },
  challenge: { at_once: 'pending' },
  frictionless: { at_once: 'accepted' },
  processing_approved: { at_once: 'processing', in_the_end: 'accepted' },
  processing_declined: { at_once: 'processing', in_the_end: 'error' },
  no_answer: { at_once: 'processing', in_the_end: 'accepted' },
  lost_answer: { at_once: 'processing', in_the_end: 'accepted' },
  error_then_fine: { at_once: 'processing', in_the_end: 'accepted' },
  chargeback: { at_once: 'accepted' },
  chargeback_won: { at_once: 'accepted' },
  capture_refused: { at_once: 'accepted' },
  refund_refused: { at_once: 'accepted' },
  refund_processing: { at_once: 'accepted' },
};

/** Status of an order whose only attempt has that status. */
const orderWith = (status: string) =>
  ({ accepted: 'completed', error: 'error', pending: 'processing', processing: 'processing' })[status];

async function comesTo(order_id: string, expected: string): Promise<void> {
  await until(`${order_id} is ${expected}`, async () => (await readStatuses(order_id)) === expected, 120_000);
}

const payments = async (order_id: string) =>
  (await readLedger(order_id)).filter(({ operation }) => operation === 'sale');

// Most of a card's time is waiting: they wait together.
test.concurrent.each(Object.entries(ENDS))(
  '%s',
  async (name, { at_once, in_the_end }) => {
    const order = await new Merchant(stack(), stack().test_api_key).paidOrder(name as CardName);
    expect(`${order.status}: ${order.transactions?.[0]?.status}`).toBe(`${orderWith(at_once)}: ${at_once}`);
    if (in_the_end !== undefined) {
      await makeOrderDue(order.id);
      await comesTo(order.id, `${orderWith(in_the_end)}: ${in_the_end}`);
    }
    expect(await payments(order.id)).toHaveLength(1);
  },
  240_000,
);

describe('on the hosted page', () => {
  interface Payer {
    id: string;
    customer: Client;
  }

  async function payWith(name: CardName, { id, customer }: Partial<Payer> = {}): Promise<Payer> {
    const payer = { id: id ?? (await createPageOrder()).id, customer: customer ?? new Client() };
    const form = { ...CARD, number: CARDS[name].number, ...(await payer.customer.openPage(payer)) };
    await payer.customer.postForm(`/pay/${payer.id}/`, form);
    return payer;
  }

  /** The issuer's address, as the page shows it while the customer is there. */
  const issuerOf = async ({ id, customer }: Payer) => (await customer.issuerAt(`/pay/${id}/`))!;

  /** Sends the issuer's form, and goes where it leads. */
  const answerIssuerOf = async (payer: Payer, form: Record<string, string>) =>
    await payer.customer.answerIssuer(await issuerOf(payer), form);

  test('rules 12.6: challenge, code right: to the issuer and back, paid once', async () => {
    const payer = await payWith('challenge');
    await answerIssuerOf(payer, { code: '0101' });
    await comesTo(payer.id, 'completed: accepted');
    expect(await (await payer.customer.send(`/pay/${payer.id}/`)).text()).toContain('Payment completed');
    expect(await payments(payer.id)).toHaveLength(1);
    expect((await orderAsMerchant(payer.id)).transactions?.[0]).toMatchObject({
      received_3ds_authentication: { result: 'authenticated' },
      payment_method_details: { liability_shift: true },
    });
  });

  test('challenge, code wrong: error with 3-D Secure failed, and the next attempt is paid', async () => {
    const payer = await payWith('challenge');
    await answerIssuerOf(payer, { code: '3333' });
    await comesTo(payer.id, 'processing: error');
    const [failed] = (await orderAsMerchant(payer.id)).transactions ?? [];
    expect(failed).toMatchObject({ received_3ds_authentication: { result: 'failed' } });
    expect(failed).not.toHaveProperty('outcomes');
    await payWith('approved', payer);
    await comesTo(payer.id, 'completed: error accepted');
  });

  test('rules 12.6: challenge, left unfinished: the return address teaches nothing, the page leads back to the issuer', async () => {
    const payer = await payWith('challenge');
    const issuer = await issuerOf(payer);
    const transaction_id = (await orderAsMerchant(payer.id)).transactions?.[0]?.id;
    await payer.customer.send(`/pay/${payer.id}/${transaction_id}/?from=issuer&result=approved&status=accepted`);
    expect(await readStatuses(payer.id)).toBe('processing: pending');
    expect(await issuerOf(payer)).toBe(issuer);
  });
});
