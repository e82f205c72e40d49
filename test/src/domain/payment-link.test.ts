import {
  linkObstacle,
  linkReason,
  linkRefusal,
  linkStatusAfter,
  isLinkDue,
  requireLinkMayEnd,
  type PaymentLinkSnapshot,
} from '../../../src/domain/payment-link';

const link = (over: Partial<PaymentLinkSnapshot> = {}): PaymentLinkSnapshot => ({
  id: 'l',
  project_id: 'p',
  status: 'new',
  version: 0,
  attempts: 0,
  expires_at: 1_000,
  clock_offset_ms: 0,
  order_ids: [],
  ...over,
});

test.each([
  ['new', {}, 999, undefined],
  ['at its end', {}, 1_000, 'expired'],
  ['at its end, after 25 attempts', { status: 'all_unsuccessful', attempts: 25 }, 1_000, 'expired'],
  ['processing', { status: 'processing', attempts: 1 }, 0, 'in_progress'],
  ['failed so far', { status: 'all_unsuccessful', attempts: 24 }, 0, undefined],
  ['after 25 attempts', { status: 'all_unsuccessful', attempts: 25 }, 0, 'no_attempt_left'],
  ['paid', { status: 'completed' }, 0, 'completed'],
  ['ended', { status: 'expired' }, 0, 'expired'],
] as const)('rules 19.4: a link that is %s', (_what, over, now, obstacle) => {
  expect(linkObstacle(link(over), now)).toBe(obstacle);
  if (obstacle !== undefined) expect(linkRefusal(obstacle).error).toBe('TransactionAlreadyStarted');
});

test.each([
  ['completed', 2_000, 'completed'],
  ['error', 999, 'all_unsuccessful'],
  ['cancelled', 999, 'all_unsuccessful'],
  ['expired', 1_000, 'expired'],
  ['error', 1_000, 'expired'],
] as const)('rules 19.6: after an order that is %s at %i the link is %s', (order, now, status) => {
  expect(linkStatusAfter(order, link(), now)).toBe(status);
});

test.each([
  [{}, 'No payment was tried yet.'],
  [{ status: 'processing' }, 'A payment is in progress.'],
  [
    { status: 'all_unsuccessful', attempts: 3, expires_at: Date.UTC(2026, 2, 1, 12) },
    '3 of 25 attempts failed; the link can be tried again until 2026-03-01T12:00:00Z.',
  ],
  [{ status: 'all_unsuccessful', attempts: 25 }, 'All 25 attempts failed.'],
  [{ status: 'completed', completed_order_id: 'o' }, 'Paid by order o.'],
  [{ status: 'expired', ended_by: 'time' }, 'Expired without a payment.'],
  [{ status: 'expired', ended_by: 'merchant' }, 'Ended by the merchant.'],
] as const)('rules 19.9: the reason of %j', (over, reason) => {
  expect(linkReason(link(over))).toBe(reason);
});

test('a link is due once its time is over and no payment is in progress', () => {
  expect([999, 1_000].map((now) => isLinkDue(link(), now))).toEqual([false, true]);
  expect(isLinkDue(link({ status: 'processing' }), 2_000)).toBe(false);
});

test('rules 19.11: a merchant ends no link that is paid or in progress', () => {
  expect(() => requireLinkMayEnd('processing')).toThrow('A payment is in progress.');
  expect(() => requireLinkMayEnd('completed')).toThrow('paid');
  expect(() => requireLinkMayEnd('all_unsuccessful')).not.toThrow();
});

test('the refusal of an attempt says why', () => {
  const obstacles = ['in_progress', 'completed', 'expired', 'no_attempt_left'] as const;
  expect(obstacles.map((obstacle) => linkRefusal(obstacle).value)).toEqual([
    'A payment is in progress.',
    'The payment link is paid.',
    'The payment link has ended.',
    'The payment link has no payment attempt left.',
  ]);
});

test.each([
  ['new', true],
  ['all_unsuccessful', true],
  ['processing', false],
  ['completed', false],
  ['expired', false],
] as const)('rules 19.11 and 19.7: a link that is %s ends at its end: %s', (status, ends) => {
  expect([999, 1_000].map((now) => isLinkDue(link({ status }), now))).toEqual([false, ends]);
  const byMerchant = () => requireLinkMayEnd(status);
  if (status === 'processing' || status === 'completed') {
    expect(byMerchant).toThrow(expect.objectContaining({ error: 'Conflict' }));
  } else {
    expect(byMerchant).not.toThrow();
  }
});
