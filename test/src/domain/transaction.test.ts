import { POLLS_BEFORE_ATTENTION, chargeIdempotencyKey, pollAfter } from '../../../src/domain/transaction';

test('every repeat of a charge has the same key', () => {
  expect(chargeIdempotencyKey('t')).toBe(chargeIdempotencyKey('t'));
  expect(chargeIdempotencyKey('t')).not.toBe(chargeIdempotencyKey('u'));
});

test('rules 10.3: the processor is asked soon at first, then once a minute, after half an hour every ten minutes', () => {
  const waits = [0, 1, 2, 3, 4, 5, 29, 30, 500].map(pollAfter);
  expect(waits).toEqual([2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 60_000, 600_000, 600_000]);
});

test('as many polls as an operator is left alone for take about a day', () => {
  const total = Array.from({ length: POLLS_BEFORE_ATTENTION }, (_, polls) => pollAfter(polls)).reduce((a, b) => a + b);
  expect(Math.round(total / 3_600_000)).toBe(24);
});
