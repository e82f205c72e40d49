import {
  ATTEMPTS_MAX,
  isEnding,
  mayCancel,
  orderStatus,
  paymentObstacle,
  transactionExpiresAt,
} from '../../../src/domain/order';
import { TRANSACTION_STATUSES, type OrderStatus, type TransactionStatus } from '../../../src/domain/transitions';

const statuses = (text: string) => (text === '' ? [] : (text.split(' ') as TransactionStatus[]));

describe('rules 4.4: the status of an order is computed from its transactions', () => {
  test.each<[string, OrderStatus, { ended?: 'cancelled' | 'expired'; attempts_max?: number; was_accepted?: boolean }?]>(
    [
      ['', 'new'],
      ['new', 'new'],
      ['pending', 'processing'],
      ['processing', 'processing'],
      ['accepted', 'completed'],
      ['error', 'processing'],
      ['error', 'error', { attempts_max: 1 }],
      ['error new', 'processing'],
      ['error pending', 'see-transactions'],
      ['error processing', 'see-transactions'],
      ['error accepted', 'completed'],
      ['error error error error error', 'error'],
      ['error error error error', 'processing'],
      ['error error error error new', 'processing'],
      ['error error error error pending', 'see-transactions'],
      ['', 'cancelled', { ended: 'cancelled' }],
      ['', 'expired', { ended: 'expired' }],
      ['error', 'cancelled', { ended: 'cancelled' }],
      ['error', 'expired', { ended: 'expired' }],
      ['error', 'expired', { ended: 'expired', attempts_max: 1 }],
      ['cancelled', 'cancelled'],
      ['expired', 'expired'],
      ['error expired', 'expired'],
      ['processing', 'processing', { ended: 'expired' }],
      ['cancelled', 'completed', { was_accepted: true }],
      ['expired', 'completed', { was_accepted: true }],
    ],
  )('[%s] → %s %j', (transactions, expected, facts = {}) => {
    expect(
      orderStatus({ transactions: statuses(transactions), was_accepted: false, attempts_max: ATTEMPTS_MAX, ...facts }),
    ).toBe(expected);
  });
});

describe('a payment attempt', () => {
  const at = { expires_at: 1_000, now: 500, was_accepted: false, attempts_max: 5 };
  test.each<[string, number, string | undefined, Partial<typeof at & { ended: 'cancelled' }>?]>([
    ['', 1, undefined],
    ['', 2, 'already_started'],
    ['new', 1, undefined],
    ['new', 2, 'already_started'],
    ['pending', 1, 'already_started'],
    ['processing', 1, 'already_started'],
    ['processing', 2, 'already_started'],
    ['error', 1, 'already_started'],
    ['error', 2, undefined],
    ['error error error error', 5, undefined],
    ['error error error error error', 6, 'no_attempt_left'],
    ['new error', 1, 'already_started'],
    ['accepted', 1, 'already_started', { was_accepted: true }],
    ['', 1, undefined, { now: 999 }],
    ['', 1, 'ended', { now: 1_000 }],
    ['', 1, 'ended', { ended: 'cancelled' }],
  ])('[%s], attempt %i → %s %j', (transactions, attempt, expected, facts = {}) => {
    expect(paymentObstacle({ ...at, transactions: statuses(transactions), attempt, ...facts })).toBe(expected);
  });
});

test.each<[string, OrderStatus, boolean]>([
  ['', 'new', true],
  ['new', 'new', true],
  ['pending', 'processing', true],
  ['error', 'processing', true],
  ['processing', 'processing', false],
  ['error processing', 'see-transactions', false],
  ['accepted', 'completed', false],
  ['error', 'error', false],
  ['expired', 'expired', false],
  ['cancelled', 'cancelled', false],
])('cancel with [%s] in an order that is %s: %s', (transactions, order, expected) => {
  expect(mayCancel(order, statuses(transactions).at(-1))).toBe(expected);
});

test('cancelled and expired are endings', () => {
  expect(TRANSACTION_STATUSES.filter(isEnding)).toEqual(['cancelled', 'expired']);
});

test('rules 7.3: an unpaid transaction never outlives its order', () => {
  expect(transactionExpiresAt({ order_expires_at: 100, created: 0, period: 30 })).toBe(30);
  expect(transactionExpiresAt({ order_expires_at: 100, created: 80, period: 30 })).toBe(100);
});
