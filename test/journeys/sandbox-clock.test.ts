import type { Order, Timeline } from '../../src/client';
import type { PaymentLink } from '../../src/contract/payment-link';
import { deliveryWorkflowId, orderWorkflowId } from '../../workflows/messages';
import { CARD, Client } from '../support/customer';
import { recordRows } from '../support/database';
import { CARDS } from '../support/domain';
import { Merchant, statusesOf } from '../support/merchant';
import { Operator } from '../support/operator';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { stack } from '../support/stack';
import { withTemporal } from '../support/temporal-client';
import { TIMERS, until, type TimerName } from '../support/waits';

/**
 * The sandbox clock on the running stack: what falls due happens, in its order, with the timestamps it would have had
 * (rules 23).
 */
const merchant = new Merchant();
jest.setTimeout(180_000);

/** SANDBOX_CLOCKS=200 for the whole crowd. */
const AT_ONCE = Number(process.env['SANDBOX_CLOCKS'] ?? 8);

const receiver = setUp(startReceiver);
const operator = setUp(() => Operator.signIn());
beforeEach(() => {
  receiver.received.splice(0);
  receiver.answer((response) => response.writeHead(500).end());
});

type Advance = { advance: string } | { to: string };
type Advanced<View> = View & { test_clock: string };

async function advance<View>(path: string, how: Advance): Promise<Advanced<View>> {
  const { status, body } = await merchant.send<Advanced<View>>('POST', `/v1/${path}/test-clock/`, { body: how });
  // Of a crowd only some may wait for their turn (rules 23.9).
  if (status === 429) return await advance(path, how);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}
const advanceOrder = (id: string, how: Advance) => advance<Order>(`orders/${id}`, how);
const advanceLink = (id: string, how: Advance) => advance<PaymentLink>(`paymentlinks/${id}`, how);

const timelineOf = async (id: string) => (await merchant.send<Timeline>('GET', `/v1/orders/${id}/timeline/`)).body;
const eventsOf = async (id: string, event: string) =>
  (await timelineOf(id)).entries.filter((entry) => entry.event === event);
const followUpsOf = async ({ related_orders = [] }: Order) =>
  await Promise.all(related_orders.map((id) => merchant.getOrder(id)));
/** What became of an order and of the money it held: `completed: accepted; capture completed`. */
const summaryOf = async (id: string) => {
  const order = await merchant.getOrder(id);
  const made = (await followUpsOf(order)).map((one) => `${one.transactions![0]!.transaction_type} ${one.status}`);
  return [statusesOf(order), ...made].join('; ');
};

const authorize = async (capture_mode: 'manual' | 'delayed', expiration_period: string, over: object = {}) =>
  await merchant.createOrder({
    ...over,
    transactions: [{ ...(await merchant.cardTransaction('approved')), capture_mode, expiration_period }],
  });

/** A customer who sends the card form of an order or link. */
async function pay(url: string, number: string): Promise<number> {
  const customer = new Client();
  const { pathname } = new URL(url);
  return (await customer.postForm(pathname, { ...CARD, ...(await customer.openPage({ id: '' }, pathname)), number }))
    .status;
}

const nextAt = async (id: string, event: string) => {
  const { next } = await timelineOf(id);
  return Date.parse(next.find((one) => one.event === event)!.at!);
};
const attempts = async (id: string) => (await eventsOf(id, 'webhook.attempt')).length;
/** Waits until the first attempt of the order's webhook has failed. */
const oneFailedAttempt = async (id: string) =>
  await until('the first attempt failed', async () => (await attempts(id)) === 1);

/** How the object of a timer is made and when it ends, and what is seen of it. */
interface Timer {
  create: () => Promise<{ id: string; due: number }>;
  advanceTo: (id: string, to: string) => Promise<unknown>;
  see: (id: string) => Promise<string>;
}
const order = (timer: Omit<Timer, 'advanceTo'>): Timer => ({
  ...timer,
  advanceTo: (id, to) => advanceOrder(id, { to }),
});
const OBJECTS: Record<TimerName, Timer> = {
  'rules 6.7: a customer who never finishes 3-D Secure': order({
    create: async () => {
      const { id, transactions } = await merchant.paidOrder('challenge');
      return { id, due: Date.parse(transactions![0]!.expires_at!) };
    },
    see: summaryOf,
  }),
  'the last question about a late approval': order({
    create: async () => {
      const { id, transactions } = await merchant.paidOrder('challenge');
      await merchant.cancelOrder(id);
      // The customer gives up at the issuer, and the notification of that is lost.
      const declined = `update operations set result = 'declined' where transaction_id = :id returning 1`;
      await recordRows(declined, { id: transactions![0]!.id }, { database: 'simulator' });
      return { id, due: await nextAt(id, 'processor.asked') };
    },
    see: async (id) => ((await timelineOf(id)).next.length === 1 ? 'watched' : 'not watched'),
  }),
  'the end of a payment link': {
    create: async () => {
      const { id, expires_at } = await merchant.createPaymentLink({ expiration_period: 'P365D' });
      return { id, due: Date.parse(expires_at!) };
    },
    advanceTo: (id, to) => advanceLink(id, { to }),
    see: async (id) => (await merchant.getPaymentLink(id)).status,
  },
  'the end of an order of a payment link': {
    create: async () => {
      const { id, payment_url } = await merchant.createPaymentLink();
      await pay(payment_url, CARDS.challenge.number);
      const { orders } = await merchant.getPaymentLink(id);
      const made = await merchant.getOrder(orders['processing']![0]!);
      return { id, due: Date.parse(made.expires_at!) };
    },
    advanceTo: (id, to) => advanceLink(id, { to }),
    see: async (id) => (await merchant.getPaymentLink(id)).status,
  },
};

describe.each(Object.keys(TIMERS) as TimerName[])('%s', (name) => {
  const { before, after } = TIMERS[name];
  const { create, advanceTo, see } = OBJECTS[name];
  test('does not happen ten seconds before its time, and happens at that instant', async () => {
    const { id, due } = await create();
    await advanceTo(id, new Date(due - 10_000).toISOString());
    expect(await see(id)).toEqual(before);
    await advanceTo(id, new Date(due).toISOString());
    expect(await see(id)).toEqual(after);
  });
});

test('P400D with everything on the way: all of it happens, in the order of its due times', async () => {
  const made = await authorize('manual', 'P5D', { webhook_url: receiver.url });
  const capture = `/v1/orders/${made.id}/transactions/${made.transactions![0]!.id}/captures/amount/`;
  await merchant.send('POST', capture, { body: { amount: 250, description: 'A part' } });
  const { test_clock } = await advanceOrder(made.id, { advance: 'P400D' });
  await until('the advance is finished', async () => (await timelineOf(made.id)).next.length === 0, 120_000);
  expect(Date.parse(test_clock) - Date.now()).toBeLessThanOrEqual(400 * 24 * 60 * 60_000);
  expect(await summaryOf(made.id)).toBe('completed: accepted; capture completed; void completed');
  const { entries } = await timelineOf(made.id);
  expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).toSorted());
  // Three webhooks of ten attempts each, two minutes apart; the last ten begin with the end of the window.
  const sent = new Map<string, typeof entries>();
  for (const entry of entries.filter(({ event }) => event === 'webhook.attempt')) {
    const webhook = `${entry.order_id}:${entry.delivery}`;
    sent.set(webhook, [...(sent.get(webhook) ?? []), entry]);
  }
  expect([...sent.values()].map((one) => one.length)).toEqual([10, 10, 10]);
  for (const one of sent.values()) {
    const gaps = one.slice(1).map(({ at }, n) => Date.parse(at) - Date.parse(one[n]!.at));
    for (const gap of gaps) expect([gap >= 120_000, gap < 150_000]).toEqual([true, true]);
  }
  const window_end = Date.parse(made.transactions![0]!.capture_before!);
  const released = entries.find(({ text }) => text.startsWith('Void of'))!;
  expect(Date.parse(released.at)).toBeGreaterThanOrEqual(window_end);
  expect(Date.parse(released.at)).toBeLessThan(window_end + 60_000);
});

test('a payment link with attempts, for a year over the change to summer time: 365 days are 365 times 24 hours', async () => {
  const link = await merchant.createPaymentLink({ expiration_period: 'P365D', webhook_url: receiver.url });
  await pay(link.payment_url, CARDS.do_not_honor.number);
  const in_march = await advanceLink(link.id, { to: '2027-03-28T03:30:00+02:00' });
  expect([in_march.status, in_march.test_clock]).toEqual([
    'all_unsuccessful',
    expect.stringMatching(/^2027-03-28T01:30:0/),
  ]);
  // The next attempt begins in March, and so does its order.
  await pay(link.payment_url, CARDS.challenge.number);
  const { orders } = await merchant.getPaymentLink(link.id);
  const attempt = await merchant.getOrder(orders['processing']![0]!);
  expect(attempt.created).toMatch(/^2027-03-28T01:3/);
  await advanceLink(link.id, { advance: 'P250D' });
  // On a busy machine it is answered before all is done.
  const after = await until('the link has expired', async () => {
    const now = await merchant.getPaymentLink(link.id);
    return now.status === 'expired' && now;
  });
  expect([after.status, after.orders]).toEqual(['expired', { error: orders['error'], expired: [attempt.id] }]);
  expect(Date.parse(after.modified) - Date.parse(link.created) - 365 * 24 * 60 * 60_000).toBeLessThan(60_000);
});

test('rules 23.7: two advances at once: one waits for the other, and they add up', async () => {
  const { id } = await merchant.createOrder({ expiration_period: 'P30D' });
  const before = Date.now();
  await Promise.all([advanceOrder(id, { advance: 'P1D' }), advanceOrder(id, { advance: 'P2D' })]);
  const { test_clock } = await advanceOrder(id, { advance: 'PT1S' });
  const days = (Date.parse(test_clock) - before) / (24 * 60 * 60_000);
  expect([days > 3, days < 3.01]).toEqual([true, true]);
  expect(await eventsOf(id, 'clock.moved')).toHaveLength(3);
});

test('rules 23.7: after ten seconds the answer shows how far the clock is, and the advance goes on', async () => {
  // The second attempt gets no answer until it has timed out, which is later than that.
  receiver.answer((response, n) => void (n === 2 || response.writeHead(n === 1 ? 500 : 200).end()));
  const { id } = await merchant.paidOrder('approved', { webhook_url: receiver.url });
  await oneFailedAttempt(id);
  const minutesAhead = ({ test_clock = '' }: Order) => (Date.parse(test_clock) - Date.now()) / 60_000;
  expect(minutesAhead(await advanceOrder(id, { advance: 'PT1H' }))).toBeLessThan(10);
  await until('the advance has ended', async () => minutesAhead(await merchant.getOrder(id)) > 59);
});

test('advanced while the processor has the charge: the payment counts', async () => {
  const transaction = await merchant.cardTransaction('approved');
  const { vault_token } = transaction.payment_method_details;
  const { hit } = await merchant.addFault({
    operation: 'sale',
    vault_token,
    kind: 'latency',
    milliseconds: 1_500,
    times: 1,
  });
  const paying = merchant.createOrder({ merchant_order_id: `advanced-${vault_token}`, transactions: [transaction] });
  await hit;
  const id = await until('the order is written', async () => {
    const sql = 'select id from orders where merchant_order_id = :it';
    return (await recordRows<{ id: string }>(sql, { it: `advanced-${vault_token}` }))[0]?.id;
  });
  await advanceOrder(id, { advance: 'PT2H' });
  await paying;
  expect(statusesOf(await merchant.untilOutcomeKnown(await merchant.getOrder(id)))).toBe('completed: accepted');
});

test('advanced over the end of the window while a capture is not answered: the capture counts, the rest is released', async () => {
  const made = await authorize('manual', 'P1D');
  await merchant.addFault({ kind: 'outage', operation: 'capture', order_id: made.id });
  const path = `/v1/orders/${made.id}/transactions/${made.transactions![0]!.id}/captures/amount/`;
  await merchant.send('POST', path, { body: { amount: 250, description: 'A part' } });
  await advanceOrder(made.id, { advance: 'P2D' });
  expect(await summaryOf(made.id)).toBe('completed: accepted; capture processing; void completed');
  await merchant.removeFaults();
  await advanceOrder(made.id, { advance: 'PT1S' });
  expect(await summaryOf(made.id)).toBe('completed: accepted; capture completed; void completed');
});

test('advanced while a receiver has a webhook: the next attempt waits two minutes from the end of this one', async () => {
  const answers: (() => void)[] = [];
  receiver.answer((response, n) => {
    if (n === 1) answers.push(() => void response.writeHead(500).end());
    else response.writeHead(200).end();
  });
  const { id } = await merchant.paidOrder('approved', { webhook_url: receiver.url });
  await receiver.waitFor(1);
  const advanced = advanceOrder(id, { advance: 'PT1H' });
  setTimeout(() => answers[0]!(), 500);
  await advanced;
  const [first, second] = await eventsOf(id, 'webhook.attempt');
  expect(second?.text).toContain('attempt 2 of 10: received');
  expect(Date.parse(second!.at) - Date.parse(first!.at)).toBeGreaterThanOrEqual(120_000);
});

test('a redelivery uses the clock of its order, also when its workflow is lost: ten attempts of its own', async () => {
  receiver.answer((response) => response.writeHead(200).end());
  const { id } = await merchant.paidOrder('approved', { webhook_url: receiver.url });
  await receiver.waitFor(1);
  const { test_clock } = await advanceOrder(id, { advance: 'P1D' });
  receiver.answer((response) => response.writeHead(500).end());
  await merchant.send('POST', `/v1/orders/${id}/webhooks/1/redeliver/`);
  await until('the first attempt failed', async () => (await operator.delivery(id, 2)).attempts.length === 1);
  await withTemporal(stack(), ({ workflow }) =>
    workflow.getHandle(deliveryWorkflowId({ order_id: id, n: 2 })).terminate('lost'),
  );
  await advanceOrder(id, { advance: 'PT1H' });
  const { status, created, attempts: made } = await operator.delivery(id, 2);
  expect([status, created >= test_clock, made.length]).toEqual(['failed', true, 10]);
  const starts = made.map(({ started }) => Date.parse(started));
  for (const [n, start] of starts.slice(1).entries()) expect(start - starts[n]!).toBeGreaterThanOrEqual(120_000);
  const { headers } = receiver.received.at(-1)!;
  expect(headers['webhook-id']).toBe(deliveryWorkflowId({ order_id: id, n: 1 }));
  expect(Math.abs(Number(headers['webhook-timestamp']) * 1_000 - Date.now())).toBeLessThan(60_000);
});

test('a paused webhook is not waited for, whatever time passes; resumed, it is attempted at once', async () => {
  const { id } = await merchant.paidOrder('approved', { webhook_url: receiver.url });
  await oneFailedAttempt(id);
  expect(await operator.ask('pauseDelivery', id)).toBe('200 paused');
  const { test_clock } = await advanceOrder(id, { advance: 'P1D' });
  const { next } = await timelineOf(id);
  expect([await attempts(id), next]).toEqual([
    1,
    [{ event: 'webhook.paused', text: 'Webhook paused before attempt 2 of 10' }],
  ]);
  receiver.answer((response) => response.writeHead(200).end());
  expect(await operator.ask('resumeDelivery', id)).toBe('200 new');
  await until('it is delivered', async () => (await operator.delivery(id)).status === 'delivered');
  const [, second] = await eventsOf(id, 'webhook.attempt');
  expect(second!.at >= test_clock).toBe(true);
  expect((await timelineOf(id)).next).toEqual([]);
});

test('actions that are due happen although their workflows were lost', async () => {
  const made = await merchant.paidOrder('approved', { webhook_url: receiver.url });
  const held = await authorize('delayed', 'P1D');
  await oneFailedAttempt(made.id);
  const handles = [deliveryWorkflowId({ order_id: made.id, n: 1 }), orderWorkflowId(held.id)];
  await withTemporal(stack(), async ({ workflow }) => {
    for (const id of handles) await workflow.getHandle(id).terminate('lost');
  });
  await advanceOrder(made.id, { advance: 'PT1H' });
  await advanceOrder(held.id, { advance: 'P1D' });
  expect(await attempts(made.id)).toBe(10);
  expect(await summaryOf(held.id)).toBe('completed: accepted; capture completed');
});

test('rules 5.8, 23: a follow-up order uses the clock of its payment and is listed: a refund after five days', async () => {
  const { id } = await merchant.paidOrder('approved');
  const { test_clock } = await advanceOrder(id, { advance: 'P5D' });
  const { body: refund } = await merchant.send<Advanced<Order>>('POST', `/v1/orders/${id}/refunds/`, {
    body: { amount: 100 },
  });
  expect([refund.status, refund.created >= test_clock, refund.test_clock >= refund.created]).toEqual([
    'completed',
    true,
    true,
  ]);
  const [event] = refund.transactions![0]!.events!.filter((one) => one.event === 'accepted');
  expect(Math.abs(Date.parse(event!.occurred) - Date.parse(event!.noticed))).toBeLessThan(60_000);
  const query = new URLSearchParams({ created_since: refund.created }).toString();
  const { body: listed } = await merchant.send<Order[]>('GET', `/v1/orders/?${query}`);
  expect(listed.map((order) => order.id)).toContain(refund.id);
});

test(`${AT_ONCE} objects at once: each clock gets to its target, and no other advances`, async () => {
  const bystander = await merchant.createOrder();
  const made = await Promise.all(Array.from({ length: AT_ONCE }, () => authorize('delayed', 'P5D')));
  await Promise.all(made.map(({ id }) => advanceOrder(id, { advance: 'P5D' })));
  for (const { id } of made) {
    await until('it is captured', async () => (await summaryOf(id)) === 'completed: accepted; capture completed');
  }
  expect(await merchant.getOrder(bystander.id)).toEqual(bystander);
});
