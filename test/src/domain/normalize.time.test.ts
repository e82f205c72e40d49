import { normalized } from '../../../src/domain/normalize';

test('the time grows with the length, not with its square', () => {
  for (const [high, low] of [
    ['\u0300', '\u0316'],
    ['\u0300', '\uff9e'],
  ]) {
    // The letter and its first mark are one character.
    expect(normalized(`A${high!.repeat(60_000)}${low!.repeat(60_000)}`).length).toBe(120_000 + 120_000 / 30 - 1);
  }
});
