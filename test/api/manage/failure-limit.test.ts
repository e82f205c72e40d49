import { createFailureLimit } from '../../../api/manage/failure-limit';

const SECOND = 1_000;

test('limits the failures in any minute; then it returns how long to wait', () => {
  const { begin } = createFailureLimit(2);
  begin('a', 0);
  begin('a', 10 * SECOND);
  expect(begin('a', 20 * SECOND)).toEqual({ retry_after_seconds: 40 });
  expect(begin('b', 20 * SECOND)).toHaveProperty('forgive');
  // The first of them is a minute old.
  expect(begin('a', 60 * SECOND)).toHaveProperty('forgive');
  expect(begin('a', 61 * SECOND)).toEqual({ retry_after_seconds: 9 });
});

test('refused attempts are not counted: further ones do not lengthen the wait', () => {
  const { begin } = createFailureLimit(1);
  begin('a', 0);
  for (let at = SECOND; at < 60 * SECOND; at += SECOND) expect(begin('a', at)).toHaveProperty('retry_after_seconds');
  expect(begin('a', 60 * SECOND)).toHaveProperty('forgive');
});

test('successful attempts are not counted', () => {
  const { begin } = createFailureLimit(1);
  for (let at = 0; at < 10; at += 1) {
    const attempt = begin('a', at);
    if (!('forgive' in attempt)) throw new Error('refused');
    attempt.forgive();
  }
  expect(begin('a', 11)).toHaveProperty('forgive');
  expect(begin('a', 12)).toHaveProperty('retry_after_seconds');
});
