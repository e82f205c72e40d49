import { forecastOf, type ForecastRecord } from '../../../src/domain/forecast';
import type { OrderSnapshot } from '../../../src/domain/order-snapshot';
import type { TimelineOrder } from '../../../src/domain/timeline';
import type { TransactionStatus } from '../../../src/domain/transitions';
import { WINDOW_END, anAuthorization, anOrderSnapshot } from '../../support/domain';

const MINUTES = 60_000;
const KEPT_MS = 90 * 24 * 60 * MINUTES;
const ids = {
  closing: (transaction_id: string, n: number) => `${transaction_id}-closing-${n}`,
  transaction: (order_id: string) => `${order_id}-t`,
};

/** What is forecast at the instant 500 for an order with attempts of these statuses. */
function forecast(transactions: TransactionStatus[], over: Partial<ForecastRecord> = {}): string[] {
  const snapshot = over.snapshot ?? anOrderSnapshot(transactions, { status: 'processing' });
  const order: TimelineOrder = {
    id: 'o',
    kind: 'payment',
    status: snapshot.status,
    amount: 500,
    currency: 'EUR',
    attempts_max: 5,
    related_payment_link_id: null,
    requested_by: null,
    ended_by: null,
    ended_at: null,
    created: new Date(0).toISOString(),
    modified: new Date(0).toISOString(),
    transactions: transactions.map((status, i) => ({
      id: `t${i + 1}`,
      attempt: i + 1,
      capture_mode: null,
      payment_method_details: null,
      response_code: null,
      response_code_description: null,
      received_3ds_result: null,
      polls: 0,
      polled_at: null,
      events: [{ event: status, source: 'processor', result: null, noticed: new Date(100).toISOString() }],
    })),
  };
  const record = { order, snapshot, money: undefined, deliveries: [], ended_deliveries: [], watches: [] };
  const rest = { attempts_kept_ms: KEPT_MS, next_delivery: 3, first_delivery: 5, has_webhook_address: false, now: 500 };
  const entries = forecastOf({ ...record, ...rest, ...over }, ids, (amount, currency) => `${amount} ${currency}`);
  const shown = entries.filter(
    ({ event }) => event !== 'webhook.attempts_removed' || over.ended_deliveries !== undefined,
  );
  return shown.map(({ at, rule, event, text, order_id = '', delivery = '' }) =>
    [at, rule, event, text, order_id, delivery].join(' ').trimEnd(),
  );
}

const open = (over: Partial<ForecastRecord['deliveries'][number]> = {}) =>
  ({ order_id: 'o', n: 2, status: 'new', attempts: 0, next_attempt_at: 700, ...over }) as const;

test('an outcome that the processor owes is not forecast', () => {
  expect(forecast(['processing'])).toEqual([]);
});

test('a customer in 3-D Secure does not come back: all expires, and the processor is asked once more', () => {
  expect(forecast(['pending'], { has_webhook_address: true })).toEqual([
    '800 7.1 transaction.expired Expired',
    '800 7.1 order.expired Order expired',
    '800 13.1 webhook.attempt Webhook attempt 1 of 10  3',
    `${800 + 15 * MINUTES} 10.12 processor.asked Asks the processor whether it approved the payment after all`,
  ]);
});

test('what was due before now is done now', () => {
  expect(forecast(['error'], { now: 2_000, deliveries: [open({ next_attempt_at: 700 })] })).toEqual([
    '2000 7.1 order.expired Order expired',
    '2000 13.1 webhook.attempt Webhook attempt 1 of 10  2',
  ]);
});

test('a receiver that has refused nothing receives each webhook at its first attempt', () => {
  expect(forecast(['error'], { deliveries: [open()], has_webhook_address: true })).toEqual([
    '700 13.1 webhook.attempt Webhook attempt 1 of 10  2',
    '1000 7.1 order.expired Order expired',
    '1000 13.1 webhook.attempt Webhook attempt 1 of 10  3',
  ]);
});

test('a receiver that refused its last attempt refuses all others, those of later webhooks too', () => {
  const deliveries = [open({ attempts: 8, next_attempt_at: 600 }), open({ n: 1, status: 'paused', attempts: 3 })];
  const entries = forecast(['error'], { deliveries, has_webhook_address: true });
  expect(entries.slice(0, 4)).toEqual([
    '600 13.6 webhook.attempt Webhook attempt 9 of 10  2',
    '1000 7.1 order.expired Order expired',
    '1000 13.1 webhook.attempt Webhook attempt 1 of 10  3',
    `${600 + 2 * MINUTES} 13.6 webhook.attempt Webhook attempt 10 of 10  2`,
  ]);
  expect(entries.at(-1)).toBe(`${1_000 + 18 * MINUTES} 13.6 webhook.attempt Webhook attempt 10 of 10  3`);
  expect(entries).toHaveLength(13);
});

test('rules 29.1: the attempts of each webhook go some time after its last one, if it ends', () => {
  const deliveries = [open({ attempts: 9, next_attempt_at: 600 }), open({ n: 3, status: 'paused', attempts: 3 })];
  const ended_deliveries = [
    { order_id: 'o', n: 1, last_attempt_at: 400 },
    { order_id: 'refund', n: 1, last_attempt_at: 450 },
  ];
  const text = 'Webhook attempts removed from the timeline';
  expect(forecast(['processing'], { deliveries, ended_deliveries })).toEqual([
    '600 13.6 webhook.attempt Webhook attempt 10 of 10  2',
    `${KEPT_MS + 400} 29.1 webhook.attempts_removed ${text}  1`,
    `${KEPT_MS + 450} 29.1 webhook.attempts_removed ${text} refund 1`,
    `${KEPT_MS + 600} 29.1 webhook.attempts_removed ${text}  2`,
  ]);
});

describe('an authorization at the end of its window', () => {
  const held = (capture_mode: 'manual' | 'delayed', freed = 0, reserved = 100): OrderSnapshot => {
    const snapshot = anOrderSnapshot(['accepted'], { status: 'completed', amount: 100 });
    const window = { capture_period: 'PT1H', capture_ends_at: WINDOW_END };
    const capture = { capture_mode, ...window, reserved, unanswered: 0, freed };
    return { ...snapshot, transactions: snapshot.transactions.map((one) => ({ ...one, capture })) };
  };
  const events = (snapshot: OrderSnapshot, money = anAuthorization(), has_webhook_address = false) =>
    forecast(['accepted'], { snapshot, money, has_webhook_address }).map((entry) =>
      entry.replace(`${WINDOW_END} `, ''),
    );

  test('nothing was captured: it is released, and its payment has expired', () => {
    expect(events(held('manual'))).toEqual([
      '8.8 order.new Void of 100 EUR requested t1-closing-1',
      '8.8 transaction.new Transaction created t1-closing-1',
      '8.8 transaction.accepted Approved t1-closing-1',
      '8.8 order.completed Void completed t1-closing-1',
      '8.11 transaction.expired Expired',
    ]);
    expect(events(held('manual'), anAuthorization(), true).at(-1)).toBe(
      '13.1 webhook.attempt Webhook attempt 1 of 10 t1-closing-1 5',
    );
  });

  test('a part was captured: the rest is released, and the payment stays', () => {
    const rest = events(held('manual', 0, 60), anAuthorization({ captured_amount: 40 }));
    expect([rest.length, rest.some((entry) => entry.startsWith('8.11'))]).toEqual([4, false]);
  });

  test('delayed: what was freed is released after the capture', () => {
    expect(events(held('delayed', 30)).filter((entry) => entry.includes('order.new'))).toEqual([
      '8.2 order.new Capture of 70 EUR requested t1-closing-1',
      '8.8 order.new Void of 30 EUR requested t1-closing-2',
    ]);
  });
});
