import type { OrderSnapshot } from '../../../src/domain/order-snapshot';
import { deliveryWait, linkWait, minorUnitsInWords, pausedDelivery, waitsOf } from '../../../src/domain/waits';
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
  expect(linkWait({ status: 'all_unsuccessful', expires_at: 700 })).toMatchObject({ at: 700 });
  expect(linkWait({ status: 'processing', expires_at: 700 })).toBeUndefined();
  expect(linkWait({ status: 'completed', expires_at: 700 })).toBeUndefined();
});
