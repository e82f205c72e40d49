import { createFailureLimit } from '../../../api/manage/failure-limit';

const SECOND = 1_000;

test('limits the failures in any minute; then it returns how long to wait', () => {
  const countFailure = createFailureLimit(2);
  expect(countFailure('a', 0)).toBe(0);
  expect(countFailure('a', 10 * SECOND)).toBe(0);
  expect(countFailure('a', 20 * SECOND)).toBe(40);
  expect(countFailure('b', 20 * SECOND)).toBe(0);
  // The first of them is a minute old.
  expect(countFailure('a', 60 * SECOND)).toBe(0);
  expect(countFailure('a', 61 * SECOND)).toBe(9);
});

test('failures beyond the limit are not counted: they do not lengthen the wait', () => {
  const countFailure = createFailureLimit(1);
  countFailure('a', 0);
  for (let at = SECOND; at < 60 * SECOND; at += SECOND) expect(countFailure('a', at)).toBeGreaterThan(0);
  expect(countFailure('a', 60 * SECOND)).toBe(0);
});
