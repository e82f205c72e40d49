import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { MAX_DURATION, durationProblem, overlapEnd, parseDuration } from '../../../src/domain/duration';
import { property, valueOrRefused, same, type Property } from './parser';

/** Whole numbers as a client may write them: with zeros before them too. */
const count = fc
  .oneof(fc.nat({ max: 1_000 }), fc.nat({ max: 1_000_000_000 }))
  .chain((value) => fc.constantFrom('', '0', '000').map((zeros) => `${zeros}${value}`));
const maybe = (unit: string) =>
  fc.option(
    count.map((value) => value + unit),
    { nil: '' },
  );

/** Texts of ISO 8601 durations of fixed length: weeks alone, or days and a time, of which parts may be absent. */
const fixed = fc.oneof(
  count.map((weeks) => `P${weeks}W`),
  fc
    .tuple(maybe('D'), maybe('H'), maybe('M'), maybe('S'))
    .map(([days, ...time]) => `P${days}${time.some((part) => part !== '') ? `T${time.join('')}` : ''}`)
    .filter((text) => text !== 'P'),
);
const anything = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.stringMatching(/^[+-]?P[0-9YMWDTHS.,pt]{0,14}\n?$/),
  fixed.chain((text) => fc.nat(text.length).map((at) => `${text.slice(0, at)}${text.slice(at + 1)}`)),
  fixed.chain((text) =>
    fc
      .tuple(fc.nat(text.length), fc.string({ maxLength: 2 }))
      .map(([at, more]) => text.slice(0, at) + more + text.slice(at)),
  ),
);

/** The duration format of RFC 3339, appendix A, which is that of JSON Schema, without years, months. */
const FORMAT =
  /^P(?:\d+W|(?:\d+D(?:T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)|T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))$/;

/** Milliseconds by Temporal, a day being 24 hours and a week seven days. */
function totalOf(text: string): number {
  const duration = Temporal.Duration.from(text);
  return duration.weeks * 7 * 86_400_000 + duration.with({ weeks: 0 }).total('millisecond');
}

const LONGEST = Object.values(MAX_DURATION).map((text) => ({ text, ms: totalOf(text) }));
const parsed = (text: string) => valueOrRefused(() => parseDuration(text), RangeError);

export const DURATIONS: Property[] = [
  property('durations: those of fixed length are as long as Temporal says, at least a second', fixed, (text) => {
    const total = valueOrRefused(() => totalOf(text), RangeError);
    same(text, parsed(text), total === 'refused' || total < 1_000 ? 'refused' : total);
  }),
  property(
    'durations: any other text is refused with a RangeError, and what is read is in the format',
    anything,
    (text) => {
      const value = parsed(text);
      if (value === 'refused') return;
      // RFC 3339 has no hours beside seconds without minutes; ISO 8601 has.
      if (!FORMAT.test(text) && !/^P(\d+D)?T\d+H\d+S$/.test(text)) throw new Error(`${text} is read as ${value}`);
      same(text, value, totalOf(text));
    },
  ),
  property('durations: whole seconds return from their text', fc.integer({ min: 1, max: 2 ** 43 }), (seconds) => {
    const text = Temporal.Duration.from({ seconds }).round({ largestUnit: 'day' }).toString();
    same(text, parseDuration(text), seconds * 1_000);
  }),
  property('durations: a maximum is allowed and a second more is not', fixed, (text) => {
    const ms = parsed(text);
    for (const longest of LONGEST) {
      const problem = durationProblem(text, longest.text);
      same(`${text} within ${longest.text}`, problem === undefined, ms !== 'refused' && ms <= longest.ms);
      if (problem?.includes(text)) throw new Error(`the problem repeats ${text}: ${problem}`);
    }
    const end = valueOrRefused(() => overlapEnd(text, new Date(0)).getTime(), RangeError);
    if (text === 'PT0S') same('overlap PT0S', end, 0);
    else if (ms === 'refused' || ms <= 8.64e15) same(`overlap ${text}`, end, ms);
  }),
];
