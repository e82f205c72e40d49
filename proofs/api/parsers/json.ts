import fc from 'fast-check';
import { InexactNumber, parseJson } from '../../../src/contract/json';
import { areEqual, numberLiteral, rationalOf } from './number-literals';
import { property, valueOrRefused, same, type Property } from './parser';

const json = fc.oneof(fc.json({ noUnicodeString: false }), fc.json({ stringUnit: 'binary' }));

/** A JSON text in which every number is one of these. */
const withNumbers = fc
  .tuple(json, fc.array(numberLiteral, { minLength: 1, maxLength: 4 }))
  .map(([text, literals]) => `{"a":[${literals.join(' , ')}],"b":${text},"${literals[0]}":"${literals[0]}"}`);

/** A JSON text that was damaged at one place, or any text. */
const damaged = fc.oneof(
  fc.string({ unit: 'binary' }),
  withNumbers.chain((text) =>
    fc
      .tuple(
        fc.nat(text.length),
        fc.nat({ max: 3 }),
        fc.string({ unit: fc.constantFrom(...Array.from('"\\{}[],:019eE.+- \u0000\ud800')), maxLength: 3 }),
      )
      .map(([at, less, more]) => text.slice(0, at) + more + text.slice(at + less)),
  ),
);

/** The value with the double in place of each inexact number, as JSON.parse has it. */
function asDoubles(value: unknown): unknown {
  if (value instanceof InexactNumber) return Number(value.source);
  if (Array.isArray(value)) return value.map(asDoubles);
  if (typeof value !== 'object' || value === null) return value;
  // fromEntries makes an own field of `__proto__` too.
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, asDoubles(inner)]));
}

/** Whether the rules let a number return as another text (rules 1.7): with a fraction or an exponent, as its double. */
function mayReturnShorter(literal: string): boolean {
  const value = Number(literal);
  const digits = literal
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '');
  const { numerator, denominator } = rationalOf(literal);
  const becomesWhole = Number.isInteger(value) && numerator % denominator !== 0n;
  const isNormal = Number.isFinite(value) && Math.abs(value) >= 2 ** -1022;
  // Zeros after the point are no fraction.
  return /\.\d*[1-9]|[eE]/.test(literal) && digits.length <= 17 && isNormal && !becomesWhole;
}

export const JSON_TEXTS: Property[] = [
  property('JSON: every text is read as JSON.parse reads it', fc.oneof(json, withNumbers), (text) => {
    same(text, asDoubles(parseJson(text)), JSON.parse(text));
  }),
  property(
    'JSON: a damaged text is refused with a SyntaxError exactly where JSON.parse refuses it',
    damaged,
    (text) => {
      const expected = valueOrRefused(() => JSON.parse(text) as unknown, SyntaxError);
      const read = valueOrRefused(() => parseJson(text), SyntaxError);
      same(text, read === 'refused' ? read : asDoubles(read), expected);
    },
  ),
  property('JSON: a number is exact if and only if it returns as it was sent', numberLiteral, (literal) => {
    const [value] = parseJson(`[${literal}]`) as unknown[];
    const double = Number(literal);
    const returns = Number.isFinite(double) && areEqual(JSON.stringify(double), literal);
    same(literal, value instanceof InexactNumber, !returns && !mayReturnShorter(literal));
    if (value instanceof InexactNumber) same('its source', value.source, literal);
  }),
];
