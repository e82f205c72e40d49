import { holdsCardNumber } from '../../../src/domain/card';

test.each<[string, (length: number) => string]>([
  ['digits', (length) => '4'.repeat(length)],
  ['single digits', (length) => '4 '.repeat(length / 2)],
  ['groups of four', (length) => '4111 '.repeat(length / 5)],
  ['almost groups of a card', (length) => '4111 1111 1111 111x'.repeat(length / 20)],
  ['full-width digits', (length) => '４'.repeat(length / 3)],
  ['Arabic digits', (length) => '٤'.repeat(length / 2)],
  ['invisible characters', (length) => '4\u200b'.repeat(length / 4)],
  ['percent-encoding', (length) => '%34 '.repeat(length / 4)],
  ['percent-encoded percents', (length) => `%${'25'.repeat(length / 2)}`],
  ['letters of an IBAN', (length) => 'DE89 3704 0044 0532 0130 01 '.repeat(length / 28)],
  ['compact shapes of IBANs', (length) => 'de'.repeat(length / 2)],
  ['UUIDs', (length) => '1c3a9d52-6a2f-4d4b-9d5e-7a6c0f1e2b34 4111 1111 1111 1112'.repeat(length / 56)],
  ['ligatures', (length) => 'ﷺ'.repeat(length / 3)],
  ['white space', (length) => '4111' + ' '.repeat(length)],
  ['quotation marks', (length) => '\\"'.repeat(length / 2)],
])(
  'a long text of %s is searched in a time that grows with its length, not with the square of it',
  (_title, textOf) => {
    /** Milliseconds of the processor for this process, the fewest of so many runs: other processes do not count. */
    const cost = (length: number, runs: number) => {
      const text = textOf(length);
      const milliseconds = Array.from({ length: runs }, () => {
        const before = process.cpuUsage();
        holdsCardNumber(text);
        return process.cpuUsage(before).user / 1_000;
      });
      return Math.min(...milliseconds);
    };
    const [long, short] = [128 * 1024, 8 * 1024];
    // 16 times the length, the square of which is 256 times as much. Below 2 ms the short one says nothing.
    const isFast = cost(long, 1) < 64 * 2;
    expect(isFast || cost(long, 3) < 64 * cost(short, 3)).toBe(true);
  },
);
