import { FOLLOW_UPS, followUpKey, type FollowUpKind } from '../../../src/domain/follow-up';

test('every repeat of a follow-up has the same key; another order, kind or transaction has another', () => {
  const key = followUpKey('t', 'reversal', 'f');
  expect(key).toBe(followUpKey('t', 'reversal', 'f'));
  for (const other of [followUpKey('u', 'reversal', 'f'), followUpKey('t', 'reversal', 'g')]) expect(other).not.toBe(key);
});

test.each(Object.entries(FOLLOW_UPS) as [FollowUpKind, (typeof FOLLOW_UPS)[FollowUpKind]][])('%s: fields and flags are named after it', (kind, row) => {
  expect([row.flag, row.original_flag, row.of, row.orders]).toEqual([`is-${kind}`, `has-${kind}s`, `${kind}_of_order_id`, `${kind}_orders`]);
});
