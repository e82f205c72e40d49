import { randomUUID } from 'node:crypto';
import { toLinkPayable } from '../../../api/page/payment-link';
import type { PaymentState } from '../../../api/page/payable';
import type { PaymentLinkRequest } from '../../../src/client';
import { orderSchema } from '../../../src/contract/order';
import type { StoredOrder } from '../../../src/db/orders/stored-order';
import type { StoredPaymentLink } from '../../../src/db/payment-links';
import type { OrderStatus, PaymentLinkStatus } from '../../../src/domain/transitions';
import { reversalOrderId } from '../../../src/ids';
import { CARD, Client, hidden, readStatuses } from '../../support/customer';
import { CARDS } from '../../support/domain';
import { readLedger } from '../../support/ledger';
import { Merchant } from '../../support/merchant';
import { NOBODY } from '../../support/shapes';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const END = '2026-03-31T12:00:00.000000+00:00';

describe('a payment link is', () => {
  function aLink(status: PaymentLinkStatus, attempts = 0, fields: Partial<StoredPaymentLink> = {}): StoredPaymentLink {
    return {
      id: 'l-1',
      status,
      attempts,
      expires_at: END,
      ended_by: null,
      payment_methods: null,
      project_payment_methods: ['credit-card'],
      return_url: 'https://shop.example/',
      orders: [],
      ...fields,
    } as unknown as StoredPaymentLink;
  }

  /** The order of the payer's last attempt. */
  function own(status: OrderStatus, transaction: Record<string, unknown> = {}): StoredOrder {
    return {
      id: 'o-1',
      project_id: 'p-1',
      related_payment_link_id: 'l-1',
      status,
      charged_by: 'token',
      attempts_max: 1,
      expires_at: '2026-03-01T12:30:00Z',
      project_payment_methods: ['credit-card'],
      return_url: 'https://shop.example/',
      failure_url: null,
      follow_ups: [],
      transactions: [
        { attempt: 1, events: [], challenge_url: null, expires_at: '2026-03-01T12:30:00Z', ...transaction },
      ],
    } as unknown as StoredOrder;
  }
  const declined = own('error', {
    status: 'error',
    events: [{ event: 'error', source: 'processor', result: 'declined' }],
  });
  const atTheIssuer = own('processing', { status: 'pending', challenge_url: 'https://issuer.example/' });
  const paid = own('completed', {
    status: 'accepted',
    payment_method_brand: 'visa',
    payment_method_details: { truncated_pan: '411111******1111' },
  });

  /** The order of an attempt that the payer cancelled, and confirmed at the issuer afterwards. */
  const approvedLate = (id: string, reversal: OrderStatus = 'completed'): StoredOrder => ({
    ...own('cancelled', { id, status: 'cancelled' }),
    follow_ups: [{ id: reversalOrderId(id), kind: 'reversal', status: reversal }],
  });
  const late_id = randomUUID();
  const cancelledAtTheIssuer = own('cancelled', {
    ...{ id: late_id, status: 'cancelled', challenge_url: 'https://issuer.example/', may_be_approved: true },
    modified: new Date(NOW).toISOString(),
  });
  const [late, refused] = [approvedLate(late_id), approvedLate(randomUUID(), 'error')];

  function inWords(state: PaymentState): string {
    switch (state.kind) {
      case 'payable': {
        const { attempt, attempts_left, last_failure, late_approval } = state;
        const failures = [last_failure?.reason, late_approval].filter((one) => one !== undefined);
        return [`pay ${attempt}`, `${attempts_left} left`, ...failures].join(', ');
      }
      case 'waiting':
        return `wait for ${state.waiting_for}${state.cancellable ? ', may cancel' : ''}`;
      case 'ended':
        return [
          [state.outcome, ...(state.late_approval ? [state.late_approval] : [])].join(', '),
          ...(state.return_address ? [state.return_address] : []),
        ].join(' → ');
    }
  }

  test.each<[string, StoredPaymentLink, StoredOrder | undefined, string]>([
    ['new', aLink('new'), undefined, 'pay 1, 25 left'],
    ['another customer pays', aLink('processing', 1), undefined, 'wait for other_payment'],
    ['another customer pays, after the own decline', aLink('processing', 2), declined, 'wait for other_payment'],
    ['another customer failed', aLink('all_unsuccessful', 3), undefined, 'pay 1, 22 left'],
    ['the payer is at the issuer', aLink('processing', 1), atTheIssuer, 'wait for issuer, may cancel'],
    ['the payer’s charge is sent', aLink('processing', 1), own('new', { status: 'new' }), 'wait for outcome'],
    [
      'the payer’s outcome is not known, after the end of the link',
      aLink('processing', 1, { expires_at: '2026-03-01T11:00:00Z' }),
      own('processing', { status: 'processing' }),
      'wait for outcome',
    ],
    ['the payer was declined', aLink('all_unsuccessful', 1), declined, 'pay 2, 24 left, declined'],
    [
      'the payer cancelled at the issuer’s question',
      aLink('all_unsuccessful', 1),
      own('cancelled', { status: 'cancelled' }),
      'pay 2, 24 left, cancelled',
    ],
    [
      'the payer never answered the issuer',
      aLink('all_unsuccessful', 1),
      own('expired', { status: 'expired' }),
      'pay 2, 24 left, failed',
    ],
    [
      'the payer cancelled, and confirmed at the issuer afterwards',
      aLink('all_unsuccessful', 1),
      late,
      'pay 2, 24 left, given_back',
    ],
    ['paid by the payer', aLink('completed', 1), paid, 'completed → https://shop.example/'],
    ['paid by another customer', aLink('completed', 1), undefined, 'already_paid'],
    ['paid by another customer, after the own decline', aLink('completed', 2), declined, 'already_paid'],
    ['all attempts failed', aLink('all_unsuccessful', 25), undefined, 'no_attempts_left'],
    ['all attempts failed and its time is over', aLink('expired', 25, { ended_by: 'time' }), undefined, 'link_expired'],
    ['its time is over', aLink('expired', 0, { ended_by: 'time' }), undefined, 'link_expired'],
    [
      'its time is over, its timer has not fired',
      aLink('new', 0, { expires_at: '2026-03-01T12:00:00Z' }),
      undefined,
      'link_expired',
    ],
    [
      'a payment is in progress when its time is over',
      aLink('processing', 1, { expires_at: '2026-03-01T12:00:00Z' }),
      undefined,
      'wait for other_payment',
    ],
    ['of a suspended project', aLink('new', 0, { project_status: 'suspended' }), undefined, 'suspended'],
    ['ended by the merchant', aLink('expired', 1, { ended_by: 'merchant' }), declined, 'ended_by_merchant'],
  ])('%s', (_title, link, order, expected) => {
    const payable = toLinkPayable(link, { payer: 'p', own_orders: order ? [order] : [] }, NOW);
    expect(inWords(payable.state).split('?')[0]).toBe(expected);
    expect(payable.paid_with !== undefined).toBe(order === paid);
    expect(payable.may_be_approved).toBe(false);
  });

  test.each<[string, boolean, StoredOrder[]]>([
    ['cancelled at the issuer', true, [cancelledAtTheIssuer]],
    ['cancelled at the issuer, another one declined afterwards', true, [cancelledAtTheIssuer, declined]],
    ['cancelled at the issuer, given back', false, [{ ...cancelledAtTheIssuer, follow_ups: late.follow_ups }]],
  ])('rules 12.12: an attempt of the payer was %s: may still be approved: %p', (_title, expected, own_orders) => {
    const of_payer = { payer: 'p', own_orders };
    expect(toLinkPayable(aLink('all_unsuccessful', 1), of_payer, NOW).may_be_approved).toBe(expected);
  });

  test.each<[string, StoredPaymentLink, StoredOrder[], string]>([
    ['declined afterwards', aLink('all_unsuccessful', 2), [late, declined], 'pay 3, 23 left, declined, given_back'],
    ['not given back', aLink('all_unsuccessful', 2), [refused, declined], 'pay 3, 23 left, declined, not_given_back'],
    ['one of two not given back', aLink('all_unsuccessful', 2), [refused, late], 'pay 3, 23 left, not_given_back'],
    [
      'its link has expired',
      aLink('expired', 2, { ended_by: 'time' }),
      [refused, declined],
      'link_expired, not_given_back',
    ],
    [
      'its project is suspended',
      aLink('new', 1, { project_status: 'suspended' }),
      [refused],
      'suspended, not_given_back',
    ],
    ['paid afterwards', aLink('completed', 2), [refused, paid], 'completed, not_given_back → https://shop.example/'],
  ])('rules 12.12: an attempt of the payer was approved after its end, %s', (_title, link, own_orders, expected) => {
    const { state } = toLinkPayable(link, { payer: 'p', own_orders }, NOW);
    expect(inWords(state).split('?')[0]).toBe(expected);
  });
});

describe('the page of a payment link', () => {
  const merchant = new Merchant();

  async function aLink(fields: Partial<PaymentLinkRequest> = {}) {
    const { id, payment_url, project_id } = await merchant.createPaymentLink({
      amount: 2550,
      description: 'Two tickets',
      ...fields,
    });
    const path = new URL(payment_url).pathname;
    /** One customer with a browser of their own. */
    const aPayer = async () => {
      const client = new Client();
      return { client, form: { ...CARD, ...(await client.openPage({ id }, path)) } };
    };
    const html = async (client = new Client(), query = '') => await (await client.send(path + query)).text();
    const link = () => merchant.getPaymentLink(id);
    /** Its status, and how many of its orders have which. */
    const linkStory = async () => {
      const { status, orders } = await link();
      const counts = Object.entries(orders).map(([of_order, ids]) => `${ids.length} ${of_order}`);
      return [`${status}:`, ...counts.toSorted()].join(' ');
    };
    return { id, project_id, path, aPayer, html, link, linkStory };
  }

  test('looking, reloading and a form with a wrong field use up no attempt', async () => {
    const { path, aPayer, html, linkStory } = await aLink();
    const { client, form } = await aPayer();
    expect(await html(client)).toContain('Two tickets');
    const wrong = await client.postForm(path, { ...form, number: '4111111111111112' });
    expect([wrong.status, hidden(await wrong.text(), 'attempt')]).toEqual([400, '1']);
    expect(await linkStory()).toBe('new:');
  });

  test('says what is to be paid, until when, and offers no cancelling of what was not begun', async () => {
    const { html } = await aLink();
    const page = await html();
    expect(page).toContain('€25.50');
    expect(page).toMatch(/data-milliseconds-left="259[12]\d{6}"/);
    expect(page).not.toContain('/cancel/');
  });

  test.each(['nothing', NOBODY, `${NOBODY}/${NOBODY}`, '..%2fx/cancel'])(
    '/paymentlinks/%s is a 404 page',
    async (path) => {
      const response = await new Client().send(`/paymentlinks/${path}`);
      expect([response.status, response.headers.get('location')]).toEqual([404, null]);
      expect(await response.text()).toContain('Page not found');
    },
  );

  test('rules 19.12: its address is there as a QR code, which other sites may show', async () => {
    const paths = await Promise.all([aLink(), aLink()].map(async (link) => (await link).path));
    const [one, other] = await Promise.all(paths.map((path) => new Client().send(`${path}qr.svg`)));
    expect([one!.status, one!.headers.get('content-type'), one!.headers.get('cross-origin-resource-policy')]).toEqual([
      200,
      'image/svg+xml; charset=utf-8',
      'cross-origin',
    ]);
    const svg = await one!.text();
    expect(svg).toMatch(/^<svg [^>]*viewBox="0 0 (\d+) \1"/);
    expect(svg).not.toBe(await other!.text());
    expect((await new Client().send(`/paymentlinks/${NOBODY}/qr.svg`)).status).toBe(404);
  });

  test('two clicks and a second tab are one attempt, which leads to the return address', async () => {
    const { id, project_id, path, aPayer, link, linkStory } = await aLink({
      return_url: 'https://shop.example/done?a=1',
    });
    const { client, form } = await aPayer();
    const answers = await Promise.all([1, 2, 3].map(() => client.payWithForm(path, form)));
    const { completed_order_id } = await link();
    for (const answer of [...answers, await client.payWithForm(path, form)]) {
      expect([answer.status, answer.headers.get('location')]).toEqual([
        303,
        `https://shop.example/done?a=1&order_id=${completed_order_id}&project_id=${project_id}&payment_link_id=${id}`,
      ]);
    }
    expect(await linkStory()).toBe('completed: 1 completed');
    expect(await readLedger(completed_order_id!)).toMatchObject([{ operation: 'sale', requests: 1 }]);
  });

  test('rules 19.8: paid: the payer reads with what, anybody else only that it is paid', async () => {
    const { path, aPayer, html } = await aLink();
    const { client, form } = await aPayer();
    expect(await (await client.postForm(path, form)).text()).toContain('Payment completed');
    expect(await html(client)).toContain('Visa ending in 1111');
    const other = await html();
    expect(other).toContain('This has been paid');
    expect(other).not.toMatch(/1111|Visa|Ada|cc-number/);
  });

  test('a decline says so and what is left, to the payer alone; each can try again', async () => {
    const { path, aPayer, html, linkStory } = await aLink();
    const one = await aPayer();
    const other = await aPayer();
    const declined = await one.client.postForm(path, { ...one.form, number: CARDS.insufficient_funds.number });
    const page = await declined.text();
    expect(declined.status).toBe(200);
    expect(page).toContain('There is not enough money on this card');
    expect(page).toContain('You can try 24 more times.');
    expect(hidden(page, 'attempt')).toBe('2');
    expect(await html(other.client)).not.toContain('role="alert"');
    const again = await one.client.postForm(path, one.form);
    expect(hidden(await again.text(), 'attempt')).toBe('2');
    expect(await linkStory()).toBe('all_unsuccessful: 1 error');
    expect(await (await other.client.postForm(path, other.form)).text()).toContain('Payment completed');
    expect(await linkStory()).toBe('completed: 1 completed 1 error');
    expect(await html(one.client)).toContain('This has been paid');
  });

  test('rules 19.8: while the payer is at the issuer others read that a payment is in progress, and nothing of it', async () => {
    const { path, aPayer, html, linkStory } = await aLink();
    const [payer, other] = [await aPayer(), await aPayer()];
    const sent = await payer.client.postForm(path, { ...payer.form, number: CARDS.challenge.number });
    expect(await sent.text()).toMatch(/<meta http-equiv="refresh" content="0;url=[^"]+\/challenge\//);
    const page = await html(other.client);
    expect(page).toContain('A payment is in progress');
    expect(page).toContain(`url=${path}?waited=1`);
    expect(page).not.toMatch(/challenge|cc-number|cancel\//);
    for (const place of [path, `${path}wallet/`, `${path}cancel/`]) {
      const answer = await other.client.postForm(place, { ...other.form, payment_method: 'apple-pay' });
      expect([place, answer.status]).toEqual([place, 200]);
      expect(await answer.text()).toContain('A payment is in progress');
    }
    expect(await linkStory()).toBe('processing: 1 processing');
    // The payer finds the issuer's question and the way out again, in any tab.
    expect(await html(payer.client, '?waited=1')).toMatch(/href="[^"]+\/challenge\//);
    const cancelled = await payer.client.postForm(`${path}cancel/`, { token: payer.form.token });
    expect(cancelled.status).toBe(200);
    const after = await cancelled.text();
    expect(after).toContain('Payment cancelled');
    expect(after).toContain('You can try 24 more times.');
    expect(await linkStory()).toBe('all_unsuccessful: 1 cancelled');
    expect(hidden(await html(other.client), 'attempt')).toBe('1');
  });

  test('rules 19.8: cancelled after it failed at the issuer, the page says that it failed', async () => {
    const { path, aPayer, linkStory } = await aLink();
    const { client, form } = await aPayer();
    await client.postForm(path, { ...form, number: CARDS.challenge.number });
    await client.answerIssuer((await client.issuerAt(path))!, { code: '3333' });
    const late = await client.postForm(`${path}cancel/`, { token: form.token });
    const page = await late.text();
    expect([late.status, hidden(page, 'attempt')]).toEqual([200, '2']);
    expect(page).toContain('Your bank did not confirm the payment');
    expect(page).not.toContain('Not cancelled yet');
    expect(await linkStory()).toBe('all_unsuccessful: 1 error');
  });

  test('rules 12.7: a wallet shows the same fields of its card as on the page of an order', async () => {
    const { path, aPayer, link } = await aLink();
    const { client, form } = await aPayer();
    const by_wallet = { token: form.token, attempt: form.attempt, payment_method: 'apple-pay' };
    expect(await (await client.payWithForm(`${path}wallet/`, by_wallet)).text()).toContain('Payment completed');
    const { transactions } = await merchant.getOrder((await link()).completed_order_id!);
    expect(orderSchema.shape.transactions.safeParse(transactions).error).toBeUndefined();
  });

  test('rules 19.14: the page of an attempt’s order leads back to the link after a decline', async () => {
    const { path, aPayer, link } = await aLink();
    const { client, form } = await aPayer();
    await client.postForm(path, { ...form, number: CARDS.do_not_honor.number });
    const order_id = (await link()).orders['error']![0]!;
    expect(await readStatuses(order_id)).toBe('error: error');
    const page = await (await client.send(`/pay/${order_id}/`)).text();
    // The link may be paid by another customer, or have ended.
    expect(page).toContain('Nothing was charged. The payment page shows whether you can try again.');
    expect(page).toContain(`href="${path}"`);
    expect((await client.send(`/pay/${order_id}/?waited=1`)).headers.get('location')).toBe(path);
  });

  test('of a link that has ended the page says so', async () => {
    const ended = await aLink();
    const { client, form } = await ended.aPayer();
    await merchant.endPaymentLink(ended.id);
    expect(await ended.html()).toContain('This payment link is closed');
    expect(await (await client.postForm(ended.path, form)).text()).toContain('This payment link is closed');
    const expired = await aLink({ expiration_period: 'PT1S' });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(await expired.html()).toContain('This payment link has expired');
    expect(await ended.linkStory()).toBe('expired:');
  });
});
