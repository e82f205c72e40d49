import type { OrderSnapshot } from '../../../src/domain/order-snapshot';
import {
  byInstant,
  deliveryWait,
  linkWait,
  minorUnitsInWords,
  mismatchInWords,
  pausedDelivery,
  waitsOf,
  watchWait,
} from '../../../src/domain/waits';
import { anOrderSnapshot } from '../../support/domain';

const polled = (order: OrderSnapshot): OrderSnapshot => ({
  ...order,
  transactions: order.transactions.map((one) => ({ ...one, poll_at: 300 })),
});
const authorized = (capture_mode: 'manual' | 'delayed', amounts: { reserved: number; unanswered: number }) => {
  const order = anOrderSnapshot(['accepted'], { status: 'completed' });
  const capture = { capture_mode, capture_period: 'PT1H', capture_ends_at: 900, freed: 0, ...amounts };
  return { ...order, transactions: order.transactions.map((one) => ({ ...one, capture })) };
};
const followUp = (order: OrderSnapshot): OrderSnapshot => ({ ...order, charged_by: null });

test.each<[string, OrderSnapshot, string[]]>([
  ['a new order', anOrderSnapshot(), ['1000 order.expired Expires, unless the customer pays']],
  ['an announced attempt', anOrderSnapshot(['new']), ['800 order.expired Expires, unless the customer pays']],
  [
    'a customer in 3-D Secure',
    polled(anOrderSnapshot(['pending'], { status: 'processing' })),
    [
      '300 processor.asked Asks the processor again',
      '800 order.expired Expires, unless the customer finishes 3-D Secure',
    ],
  ],
  [
    'after a decline',
    anOrderSnapshot(['error'], { status: 'processing' }),
    ['1000 order.expired Expires, unless the customer tries again and pays'],
  ],
  [
    'an unknown outcome',
    polled(anOrderSnapshot(['processing'], { status: 'processing' })),
    ['300 processor.asked Asks the processor again'],
  ],
  [
    'a card token that was not charged yet',
    anOrderSnapshot(['new'], { charged_by: 'token' }),
    ['0 processor.asked Sends the request to the processor'],
  ],
  [
    'a manual authorization',
    authorized('manual', { reserved: 500, unanswered: 0 }),
    ['900 order.new Releases 500 EUR (minor units) unless it is captured'],
  ],
  [
    'a delayed one',
    authorized('delayed', { reserved: 500, unanswered: 0 }),
    ['900 order.new Captures 500 EUR (minor units) automatically'],
  ],
  ['an authorization whose captures are not answered', authorized('manual', { reserved: 0, unanswered: 500 }), []],
  ['a final order', anOrderSnapshot(['accepted'], { status: 'completed' }), []],
  ['a follow-up order', followUp(anOrderSnapshot(['new'])), ['0 processor.asked Sends the request to the processor']],
  [
    'a follow-up order without outcome',
    polled(followUp(anOrderSnapshot(['processing'], { status: 'processing' }))),
    ['300 processor.asked Asks the processor again'],
  ],
  [
    'a follow-up order that was recorded as at the issuer: it has no time for paying',
    polled(followUp(anOrderSnapshot(['pending'], { status: 'processing', expires_at: Number.MAX_SAFE_INTEGER }))),
    ['300 processor.asked Asks the processor again'],
  ],
])('%s', (_title, order, expected) => {
  const waits = waitsOf(order, minorUnitsInWords);
  expect(waits.map(({ at, event, text }) => `${at} ${event} ${text}`)).toEqual(expected);
});

test('a webhook waits for its next attempt until it is final', () => {
  const delivery = { status: 'new', attempts: 3, next_attempt_at: 700, clock_offset_ms: 0, is_slow: false } as const;
  expect(deliveryWait(delivery)).toEqual({ at: 700, event: 'webhook.attempt', text: 'Webhook attempt 4 of 10' });
  expect(deliveryWait({ ...delivery, status: 'delivered' })).toBeUndefined();
  expect(pausedDelivery(delivery)).toBeUndefined();
});

test('a paused webhook waits for no instant, and says so', () => {
  const delivery = { status: 'paused', attempts: 3, next_attempt_at: 700, clock_offset_ms: 0, is_slow: false } as const;
  expect(deliveryWait(delivery)).toBeUndefined();
  expect(pausedDelivery(delivery)).toEqual({ event: 'webhook.paused', text: 'Webhook paused before attempt 4 of 10' });
});

test('a payment link waits for its end, unless a payment is in progress', () => {
  for (const status of ['new', 'all_unsuccessful'] as const) {
    const wait = { at: 700, event: 'payment_link.expired', text: 'Expires, unless it is paid' };
    expect(linkWait({ status, expires_at: 700 })).toEqual(wait);
  }
  expect(linkWait({ status: 'processing', expires_at: 700 })).toBeUndefined();
  expect(linkWait({ status: 'completed', expires_at: 700 })).toBeUndefined();
});

test('only polls are in real time; the next wait is first', () => {
  const order = polled(anOrderSnapshot(['pending'], { status: 'processing' }));
  expect(waitsOf(order, minorUnitsInWords).map(({ is_poll }) => is_poll)).toEqual([true, undefined]);
  const late = { ...order, transactions: order.transactions.map((one) => ({ ...one, poll_at: 950 })) };
  expect(waitsOf(late, minorUnitsInWords).map(({ at }) => at)).toEqual([800, 950]);
  expect([{ at: 3 }, { at: 1 }, { at: 2 }].toSorted(byInstant)).toEqual([{ at: 1 }, { at: 2 }, { at: 3 }]);
});

test('a payment that may have been approved late is asked about; again in real time', () => {
  const watch = { transaction_id: 't', poll_at: 700, polls: 0, began: 1 };
  const wait = {
    at: 700,
    event: 'processor.asked',
    text: 'Asks the processor whether it approved the payment after all',
  };
  expect([watchWait(watch), watchWait({ ...watch, polls: 1 })]).toEqual([wait, { ...wait, is_poll: true }]);
});

test('rules 10.17: both amounts are named', () => {
  expect(mismatchInWords({ amount: 4, currency: 'USD' }, { amount: 5, currency: 'EUR' })).toBe(
    'the processor answers for 4 USD (minor units) instead of 5 EUR (minor units)',
  );
});

test('a webhook that was never due waits since the beginning', () => {
  expect(deliveryWait({ status: 'new', attempts: 0 })?.at).toBe(0);
});
