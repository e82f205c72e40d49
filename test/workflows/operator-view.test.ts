import { withPoll, type OrderSnapshot } from '../../src/domain/order-snapshot';
import type { OrderStatus, TransactionStatus } from '../../src/domain/transitions';
import type { FollowUpInput } from '../../workflows/messages';
import { describeOrder as inDetail, describeFollowUp, inWords } from '../../workflows/operator-view';

const anOrder = (status: OrderStatus, transactions: TransactionStatus[] = [], attempts_max = 5): OrderSnapshot => ({
  id: 'o',
  project_id: 'p',
  status,
  version: 0,
  amount: 1250,
  currency: 'EUR',
  attempts_max,
  charged_by: 'customer',
  expires_at: Date.UTC(2026, 0, 15, 12, 30),
  clock_offset_ms: 0,
  transactions: transactions.map((one, i) => ({
    id: `t${i}`,
    attempt: i + 1,
    status: one,
    expires_at: Date.UTC(2026, 0, 15, 12, 10),
  })),
  deliveries: [],
});

const openOutcome = (order: OrderSnapshot) => withPoll(order, 't0', Date.UTC(2026, 0, 15, 12, 1));

test.each<[OrderSnapshot, string]>([
  [anOrder('new'), 'Expires, unless the customer pays, at 2026-01-15T12:30:00.000Z.'],
  [openOutcome(anOrder('processing', ['processing'])), 'Asks the processor again, at 2026-01-15T12:01:00.000Z.'],
  [anOrder('completed', ['accepted']), 'Nothing is awaited: completed is final.'],
])('rules 23.3: an operator reads what an order waits for, and until when: %j', (order, words) => {
  expect(inWords(order)).toBe(words);
});

test('the details name status, amount and every attempt', () => {
  const text = inDetail(anOrder('see-transactions', ['error', 'pending']), 'payments');
  for (const part of [
    '**see-transactions**',
    '1250 EUR (minor units)',
    'attempt 1 of 5: error',
    'attempt 2 of 5: pending',
  ]) {
    expect(text).toContain(part);
  }
});

describe('an authorization', () => {
  const held = (mode: 'manual' | 'delayed', held_amount: number, unanswered = 0): OrderSnapshot => {
    const order = anOrder('completed', ['accepted']);
    const capture = {
      capture_mode: mode,
      capture_period: 'PT1H',
      capture_ends_at: Date.UTC(2026, 0, 15, 13),
      reserved: held_amount,
      unanswered,
      freed: 0,
    };
    return { ...order, transactions: order.transactions.map((one) => ({ ...one, capture })) };
  };
  test.each<[OrderSnapshot, string]>([
    [held('delayed', 1250), 'Captures 1250 EUR (minor units) automatically, at 2026-01-15T13:00:00.000Z.'],
    [
      held('manual', 250, 1000),
      'Releases 250 EUR (minor units) unless it is captured, at 2026-01-15T13:00:00.000Z. The processor has not answered about 1000.',
    ],
    [held('manual', 0), 'Nothing is awaited: completed is final.'],
  ])('its order says what it holds, and what becomes of it when: %j', (order, words) => {
    expect(inWords(order)).toBe(words);
  });

  test('what the service did at the end of the window has a link', () => {
    const text = inDetail(
      { ...anOrder('completed', ['expired']), closings: [{ id: 'v', kind: 'void', status: 'completed', amount: 500 }] },
      'default',
    );
    expect(text).toContain(
      'void at the end of the window, [order:v](/namespaces/default/workflows/order:v): completed',
    );
  });
});

describe('a follow-up order', () => {
  const input: FollowUpInput = {
    id: 'f',
    project_id: 'p',
    kind: 'refund',
    requested_by: 'merchant',
    original_order_id: 'o',
    original_transaction_id: 't',
    merchant_order_id: 'Ada 7',
    description: 'For Ada Lovelace',
  };

  test('says what it is, of which payment, and what it waits for; nothing of the merchant’s or customer’s own', () => {
    const order = openOutcome({ ...anOrder('processing', ['processing'], 1), charged_by: null });
    const text = describeFollowUp(input, order, 'default');
    expect(text).toBe(
      '**processing**, 1250 EUR (minor units)\n\nAsks the processor again, at 2026-01-15T12:01:00.000Z.\n\nA refund of [order:o](/namespaces/default/workflows/order:o), requested by the merchant.',
    );
  });
});
