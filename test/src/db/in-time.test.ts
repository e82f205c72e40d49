import { isLate, requireInTime } from '../../../src/db/in-time';

test('surface 10: nobody is late without a deadline, nor before it', () => {
  const [before, after] = [Date.now() + 60_000, Date.now() - 1];
  expect([isLate(undefined), isLate(before), isLate(after)]).toEqual([false, false, true]);
  for (const not_after of [undefined, before]) requireInTime(not_after);
  expect(() => requireInTime(after)).toThrow(expect.objectContaining({ error: 'ServiceUnavailable' }));
});
