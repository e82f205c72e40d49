import { normalized } from '../../../src/domain/normalize';

test.each([
  ['Cafe\u0301', 'Café'],
  ['①', '1'],
  ['=\u0338', '≠'],
  [`a${'\u0316'.repeat(30)}`, `a${'\u0316'.repeat(30)}`],
])('%j is %j', (text, expected) => {
  expect(normalized(text)).toBe(expected);
});

test('a longer run of combining marks is divided after each thirty, and put in order within these', () => {
  const run = `${'\u0300'.repeat(40)}${'\u0316'.repeat(10)}`;
  const ordered = `${'\u0300'.repeat(30)}\u034f${'\u0316'.repeat(10)}${'\u0300'.repeat(10)}`;
  expect(normalized(`x${run}`)).toBe(`x${ordered}`);
});
