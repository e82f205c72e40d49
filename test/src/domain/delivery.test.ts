import {
  WEBHOOK_ATTEMPTS_MAX,
  afterAttempt,
  isAttemptDue,
  isSlowAttempt,
  webhookTimeLimit,
  type DeliveryProgress,
} from '../../../src/domain/delivery';

const NOW = Date.UTC(2026, 0, 15, 12);
const delivery = (over: Partial<DeliveryProgress> = {}): DeliveryProgress => ({
  status: 'new',
  attempts: 3,
  next_attempt_at: NOW,
  clock_offset_ms: 0,
  is_slow: false,
  ...over,
});

test('rules 13.5 and 13.6: 4 seconds on the first attempt, 10 on every further one, ten attempts', () => {
  expect(Array.from({ length: WEBHOOK_ATTEMPTS_MAX }, (_, i) => webhookTimeLimit(i + 1))).toEqual([
    4_000,
    ...Array<number>(9).fill(10_000),
  ]);
});

test.each<[string, DeliveryProgress, { attempt?: number; now: number }, boolean]>([
  ['the next attempt', delivery(), { attempt: 4, now: NOW }, true],
  ['the next attempt before its time: an operator asked for it', delivery(), { attempt: 4, now: NOW - 1 }, true],
  ['an attempt that was made', delivery(), { attempt: 3, now: NOW }, false],
  ['whatever is due, at its time', delivery(), { now: NOW }, true],
  ['whatever is due, before its time', delivery(), { now: NOW - 1 }, false],
  ['whatever is due, of one that is delivered', delivery({ status: 'delivered' }), { now: NOW }, false],
  ['the next attempt of one that is failed', delivery({ status: 'failed' }), { attempt: 4, now: NOW }, false],
])('is it due? %s', (_title, progress, asked, due) => {
  expect(isAttemptDue(progress, asked)).toBe(due);
});

test.each([
  [1, undefined, { status: 'delivered' }],
  [10, undefined, { status: 'delivered' }],
  [1, 'answered 500', { status: 'new', next_attempt_at: NOW + 120_000 }],
  [9, 'answered 500', { status: 'new', next_attempt_at: NOW + 120_000 }],
  [10, 'answered 500', { status: 'failed' }],
])('rules 13.6: after attempt %i with failure %s', (attempt, failure, after) => {
  expect(afterAttempt({ attempt, failure, ended_at: NOW })).toEqual(after);
});

test('slow is what takes more than a second', () => {
  expect([isSlowAttempt(1_000), isSlowAttempt(1_001)]).toEqual([false, true]);
});
