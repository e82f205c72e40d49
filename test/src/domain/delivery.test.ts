import {
  WEBHOOK_ATTEMPTS_MAX,
  afterAttempt,
  afterRequest,
  isAttemptDue,
  isSlowAttempt,
  webhookTimeLimit,
  type DeliveryProgress,
  type DeliveryRequest,
} from '../../../src/domain/delivery';
import type { DeliveryStatus } from '../../../src/domain/transitions';

const NOW = Date.UTC(2026, 0, 15, 12);
const delivery = (over: Partial<DeliveryProgress> = {}): DeliveryProgress => ({
  status: 'new',
  attempts: 3,
  next_attempt_at: NOW,
  clock_offset_ms: 0,
  is_slow: false,
  ...over,
});

const everyOne = (text: string) => ({ deliver_now: text, pause: text, resume: text });
const PAUSED = { deliver_now: 'The webhook is paused; resume it first.', pause: 'The webhook is paused already.' };

test('rules 13.5 and 13.6: 4 seconds on the first attempt, 10 on every further one, ten attempts', () => {
  expect(Array.from({ length: WEBHOOK_ATTEMPTS_MAX }, (_, i) => webhookTimeLimit(i + 1))).toEqual([
    4_000,
    ...Array<number>(9).fill(10_000),
  ]);
});

test.each([
  ['at its time', delivery(), true],
  ['before its time', delivery({ next_attempt_at: NOW + 1 }), false],
  ['of one that is paused', delivery({ status: 'paused' }), false],
  ['of one that is delivered', delivery({ status: 'delivered', next_attempt_at: undefined }), false],
])('is an attempt due? %s: %s', (_title, progress, due) => {
  expect(isAttemptDue(progress, NOW)).toBe(due);
});

describe('rules 13.10: what may be asked for', () => {
  const [PAST, LATER] = [NOW - 60_000, NOW + 60_000];
  test.each<[DeliveryStatus, number | undefined, Record<DeliveryRequest, string>]>([
    ['new', LATER, { deliver_now: 'new now', pause: 'paused later', resume: 'The webhook is not paused.' }],
    ['new', NOW, everyOne('The webhook is being sent.')],
    ['new', PAST, everyOne('The webhook is being sent.')],
    ['paused', LATER, { ...PAUSED, resume: 'new later' }],
    ['paused', PAST, { ...PAUSED, resume: 'new now' }],
    ['delivered', undefined, everyOne('The webhook is delivered; redeliver sends it again.')],
    ['failed', undefined, everyOne('The webhook is failed; redeliver sends it again.')],
  ])('of one that is %s, due at %s', (status, next_attempt_at, expected) => {
    const words = new Map([
      [NOW, 'now'],
      [LATER, 'later'],
    ]);
    const outcome = (request: DeliveryRequest) => {
      try {
        const after = afterRequest({ status, next_attempt_at }, request, NOW);
        return `${after.status} ${words.get(after.next_attempt_at!)}`;
      } catch (error) {
        expect(error).toMatchObject({ error: 'Conflict' });
        return (error as Error).message;
      }
    };
    for (const request of ['deliver_now', 'pause', 'resume'] as const) {
      expect([request, outcome(request)]).toEqual([request, expected[request]]);
    }
  });
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
