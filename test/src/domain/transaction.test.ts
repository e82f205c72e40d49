import type { CaptureMode } from '../../../src/domain/amounts';
import {
  POLLS_BEFORE_ATTENTION,
  chargeIdempotencyKey,
  chargeOperation,
  expectedCharge,
  mayLookUpLag,
  nextLatePoll,
  pollAfter,
} from '../../../src/domain/transaction';

test('every repeat of a charge has the same key', () => {
  expect(chargeIdempotencyKey('t')).toBe(chargeIdempotencyKey('t'));
  expect(chargeIdempotencyKey('t')).not.toBe(chargeIdempotencyKey('u'));
});

test('rules 10.3: the processor is asked soon at first, then once a minute, after half an hour every ten minutes', () => {
  const waits = [0, 1, 2, 3, 4, 5, 33, 34, 500].map(pollAfter);
  expect(waits).toEqual([2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 60_000, 600_000, 600_000]);
  const each_minute = Array.from({ length: 34 }, (_, polls) => pollAfter(polls)).reduce((a, b) => a + b);
  expect(Math.floor(each_minute / 60_000)).toBe(30);
});

test('as many polls as an operator is left alone for take about a day', () => {
  const total = Array.from({ length: POLLS_BEFORE_ATTENTION }, (_, polls) => pollAfter(polls)).reduce((a, b) => a + b);
  expect(Math.round(total / 3_600_000)).toBe(23);
});

test.each<[CaptureMode | null, number, 'authorize' | 'sale']>([
  [null, 500, 'sale'],
  [null, 0, 'authorize'],
  ['manual', 500, 'authorize'],
  ['delayed', 500, 'authorize'],
])('rules 5.3 and 8.1: with capture_mode %s an amount of %i is charged by: %s', (capture_mode, amount, operation) => {
  expect(chargeOperation({ capture_mode, amount })).toBe(operation);
  expect(expectedCharge({ transaction_id: 't', amount, currency: 'EUR', capture_mode })).toEqual({
    operation,
    transaction_id: 't',
    amount,
    currency: 'EUR',
  });
});

const HOUR = 3_600_000;
test.each([
  ['at once', 0, 1, false],
  ['just before a day', 24 * HOUR - 1, 1, false],
  ['after a day', 24 * HOUR, 6, true],
])('rules 10.12: a late approval without an answer %s', (_title, after, hours, is_overdue) => {
  const [began, now] = [1_000, 1_000 + after];
  expect(nextLatePoll(began, now)).toEqual({ poll_at: now + hours * HOUR, is_overdue });
});

test('rules 10.9: for six hours the look-up may lag behind what the processor announced', () => {
  expect([0, 6 * HOUR - 1, 6 * HOUR].map((after) => mayLookUpLag(500, 500 + after))).toEqual([true, true, false]);
});
