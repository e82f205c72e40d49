import { waitSecondsOf } from '../../../api/http/prefer';

test.each([
  ['wait=60', 60],
  ['wait=1', 1],
  ['Wait = 5', 5],
  ['wait="30"', 30],
  ['respond-async, wait=10; foo=bar', 10],
  ['note="a, wait=9", wait=3', 3],
  ['wait=2, wait=50', 2],
])('rules 5.12: Prefer: %s waits %i seconds', (header, seconds) => {
  expect(waitSecondsOf(header)).toBe(seconds);
});

test.each([
  [undefined],
  [''],
  ['return=minimal'],
  ['wait'],
  ['wait='],
  ['wait=0'],
  ['wait=61'],
  ['wait=600'],
  ['wait=01'],
  ['wait=-1'],
  ['wait=1.5'],
  ['wait=PT5S'],
  ['wait=5 6'],
  ['waiting=5'],
  ['wait=61, wait=5'],
  ['note="wait=5"'],
  ['note="a, wait=5'],
  ['note="a, wait=5\\'],
])('rules 5.12: Prefer: %s does not wait', (header) => {
  expect(waitSecondsOf(header)).toBeUndefined();
});

test('a quotation mark without its end, before 50,000 escaped ones, is read in one go', () => {
  expect(waitSecondsOf(`"${'\\"'.repeat(50_000)}`)).toBeUndefined();
});
