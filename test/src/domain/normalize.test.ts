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

test('the time grows with the length, not with its square', () => {
  for (const [high, low] of [
    ['\u0300', '\u0316'],
    ['\u0300', '\uff9e'],
  ]) {
    // The letter and its first mark are one character.
    expect(normalized(`A${high!.repeat(60_000)}${low!.repeat(60_000)}`).length).toBe(120_000 + 120_000 / 30 - 1);
  }
});
