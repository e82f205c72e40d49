import type { OrderSnapshot, TransactionSnapshot } from '../../../src/domain/order-snapshot';
import { nextStep, type Step } from '../../../src/domain/next-step';
import type { TransactionStatus } from '../../../src/domain/transitions';

const END = 1_000;
const WINDOW_END = 5_000;

const attempt = (status: TransactionStatus, over: Partial<TransactionSnapshot> = {}): TransactionSnapshot => ({
  id: 't',
  attempt: 1,
  status,
  expires_at: END,
  ...over,
});
const held = (amount: number): Partial<TransactionSnapshot> => ({
  capture: {
    capture_mode: 'manual',
    capture_period: 'P5D',
    capture_ends_at: WINDOW_END,
    reserved: amount,
    unanswered: 0,
    freed: 0,
  },
});

const anOrder = (over: Partial<OrderSnapshot>): OrderSnapshot => ({
  id: 'o',
  project_id: 'p',
  status: 'new',
  version: 0,
  amount: 100,
  currency: 'EUR',
  attempts_max: 5,
  charged_by: 'customer',
  expires_at: END,
  clock_offset_ms: 0,
  transactions: [],
  deliveries: [],
  ...over,
});

test.each<[what: string, order: Partial<OrderSnapshot>, now: number, step: Step]>([
  [
    'a webhook is due, whatever else is',
    { status: 'completed', deliveries: [1], transactions: [attempt('accepted')] },
    END,
    'startDeliveries',
  ],
  [
    'the processor may still approve what has ended',
    { status: 'expired', transactions: [attempt('expired', { late_poll_at: END + 1 })] },
    END,
    'startReversals',
  ],
  ['nobody has tried to pay', {}, END - 1, 'awaitPayment'],
  ['announced and not paid', { transactions: [attempt('new')] }, END - 1, 'awaitPayment'],
  ['declined, with attempts left', { status: 'processing', transactions: [attempt('error')] }, END - 1, 'awaitPayment'],
  ['the time is over, exactly at the end', {}, END, 'expire'],
  ['declined, and the time is over', { status: 'processing', transactions: [attempt('error')] }, END, 'expire'],
  [
    "the transaction's own time is over before its order's",
    { transactions: [attempt('new', { expires_at: END - 10 })] },
    END - 10,
    'expire',
  ],
  ['at the issuer', { status: 'processing', transactions: [attempt('pending')] }, END - 1, 'pollOutcome'],
  ['at the issuer when the time is over', { status: 'processing', transactions: [attempt('pending')] }, END, 'expire'],
  ['the outcome is not known', { status: 'processing', transactions: [attempt('processing')] }, END - 1, 'pollOutcome'],
  [
    'the outcome is not known: expiry waits for it',
    { status: 'processing', transactions: [attempt('processing')] },
    END + 1,
    'pollOutcome',
  ],
  [
    'charged at once, and the outcome is not recorded',
    { charged_by: 'token', transactions: [attempt('new')] },
    END + 1,
    'pollOutcome',
  ],
  ['paid', { status: 'completed', transactions: [attempt('accepted')] }, 1, 'finish'],
  ['cancelled', { status: 'cancelled', ended: 'cancelled', transactions: [attempt('cancelled')] }, 1, 'finish'],
  [
    'money is reserved',
    { status: 'completed', transactions: [attempt('accepted', held(100))] },
    WINDOW_END - 1,
    'holdAuthorization',
  ],
  [
    'money is reserved when its window ends: it has to be released',
    { status: 'completed', transactions: [attempt('accepted', held(100))] },
    WINDOW_END,
    'holdAuthorization',
  ],
  [
    'everything was captured',
    { status: 'completed', transactions: [attempt('accepted', held(0))] },
    WINDOW_END - 1,
    'finish',
  ],
  [
    'an amount that the processor refused to release cannot be requested',
    {
      status: 'completed',
      transactions: [attempt('accepted', held(100))],
      closings: [{ id: 'v', kind: 'void', status: 'error', amount: 100 }],
    },
    WINDOW_END,
    'finish',
  ],
])('%s', (_what, order, now, step) => {
  expect(nextStep(anOrder(order), now)).toBe(step);
});
