import { requireInTime } from '../../../src/db/in-time';

test('rules 10.5: nobody is late without a deadline, nor before it', () => {
  for (const not_after of [undefined, Date.now() + 60_000]) requireInTime(not_after);
  expect(() => requireInTime(Date.now() - 1)).toThrow(expect.objectContaining({ error: 'ServiceUnavailable' }));
});
