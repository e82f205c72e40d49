import fc from 'fast-check';
import { MAX_DURATION, durationProblem, overlapEnd, parseDuration } from '../../../src/domain/duration';

const MINUTE = 60_000;
const DAY = 86_400_000;

test.each([
  ['PT1S', 1000],
  ['PT30M', 30 * MINUTE],
  ['PT1H', 60 * MINUTE],
  ['P7D', 7 * DAY],
  ['P20D', 20 * DAY],
  ['P1W', 7 * DAY],
  ['P2W', 14 * DAY],
  ['PT90M', 90 * MINUTE],
  ['PT86400S', DAY],
])('%s is %i ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  '',
  'P',
  'PT',
  '30',
  'PT30',
  '30M',
  '-PT30M',
  '+PT30M',
  'P-1D',
  'PT30M ',
  ' PT30M',
  'PT30M\n',
  'PT1H30',
  'P1DT',
  'P99999999999999999999D',
  'Pt30m',
  'P1d',
  'PT30m',
  'forever',
])('rules 1.9: %j is no duration', (text) => {
  expect(() => parseDuration(text)).toThrow('Expected an ISO 8601 duration');
});

test.each(['P1Y', 'P1M', 'P1Y2M3D', 'P0Y1D', 'P2MT1H'])(
  '%s is refused: years and months have no fixed length',
  (text) => {
    expect(() => parseDuration(text)).toThrow('Years and months');
  },
);

test.each(['PT1.5S', 'PT1,5S', 'PT0.5H', 'PT0.999S', 'PT1.0S', 'P1DT0.5M'])('%s is refused: a fraction', (text) => {
  expect(() => parseDuration(text)).toThrow('Fractions are not accepted');
});

test.each(['P1W1D', 'P1WT1H', 'P1W1DT1H', 'P0W1D', 'P1WT0S'])('rules 1.9: %s is refused: weeks stand alone', (text) => {
  expect(() => parseDuration(text)).toThrow('Weeks stand alone');
});

test.each(['PT0S', 'P0D', 'PT0H0M0S'])('%s is refused: PT1S at least', (text) => {
  expect(() => parseDuration(text)).toThrow('PT1S at least');
});

test('rules 1.9: exactly the longest is allowed, a second more is not', () => {
  expect(durationProblem('P30D', MAX_DURATION.order)).toBeUndefined();
  expect(durationProblem('PT720H', MAX_DURATION.order)).toBeUndefined();
  expect(durationProblem('P30DT1S', MAX_DURATION.order)).toBe('Expected P30D at most.');
});

test('any text either parses to a second or more, or is refused with a RangeError', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^P[0-9YMWDTHS.]{0,12}$/)), (text) => {
      try {
        expect(parseDuration(text)).toBeGreaterThanOrEqual(1000);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
    }),
    // Everybody runs the same texts.
    { seed: 1_989, numRuns: 1_000 },
  );
});

test.each([
  ['P1Y', 'Years and months have no fixed length: use weeks, days, hours, minutes and seconds.'],
  ['PT1.5S', 'Fractions are not accepted: use a smaller unit.'],
  ['P1W1D', 'Weeks stand alone: use days in place of weeks.'],
  ['PT0S', 'Expected PT1S at least.'],
  ['PTX', 'Expected an ISO 8601 duration, for example PT30M.'],
  ['soon', 'Expected an ISO 8601 duration, for example PT30M.'],
  ['P6D', 'Expected P5D at most.'],
  ['P5D', undefined],
])('the problem of %s in words', (text, problem) => {
  expect(durationProblem(text, 'P5D')).toBe(problem);
});

test('all units count', () => {
  expect(parseDuration('P1DT2H3M4S')).toBe((((24 + 2) * 60 + 3) * 60 + 4) * 1_000);
});

test('rules 21.12: a rolled key ends after its overlap, at once with PT0S', () => {
  const now = new Date(1_000);
  expect(['PT0S', 'PT1S', 'PT24H'].map((overlap) => overlapEnd(overlap, now).getTime())).toEqual([
    1_000,
    2_000,
    1_000 + DAY,
  ]);
});
