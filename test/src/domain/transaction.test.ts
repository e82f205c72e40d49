import { pollAfter, chargeKey, outcomeOf } from '../../../src/domain/transaction';

test('no answer means that the outcome is not known, never that it was declined', () => {
  expect(outcomeOf('unknown')).toEqual({ to: 'processing' });
});

test.each([
  ['approved', { to: 'accepted', result: 'approved' }],
  ['declined', { to: 'error', result: 'declined', authorization_iso_response_code: '05' }],
  ['refused', { to: 'error', result: 'failed' }],
  ['error', { to: 'error', result: 'failed' }],
  ['challenge', { to: 'pending' }],
  ['processing', { to: 'processing' }],
] as const)('%s → %j', (result, expected) => {
  expect(outcomeOf({ result, response_code: '05' })).toEqual(expected);
});

test('every repeat of a charge has the same key', () => {
  expect(chargeKey('t')).toBe(chargeKey('t'));
  expect(chargeKey('t')).not.toBe(chargeKey('u'));
});

test('the processor is asked soon at first, then once a minute, after half an hour every ten minutes', () => {
  const waits = [0, 1, 2, 3, 4, 5, 29, 30, 500].map(pollAfter);
  expect(waits).toEqual([2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 60_000, 600_000, 600_000]);
});
