import fc from 'fast-check';
import { InexactNumber, parseJson } from '../../../src/contract/json';

const isInexact = (source: string) => parseJson(`{"a":[${source}]}`) as { a: unknown[] };

const EXACT = `0 -0 0e999999 1.0 1.50000000000000000000000000 2500 9007199254740991 9007199254740992
  10000000000000000000 1e20 1.0e+25 1e308 5e-324 2.2250738585072014e-308 0.1
  0.10000000000000001 0.30000000000000004 0.12345678901234567 1.2345678901234567e+19 9.2233720368547758e+18 -1.7976931348623157e308`;
test.each(EXACT.split(/\s+/))('%s is a number', (source) => {
  expect(isInexact(source).a[0]).toBe(Number(source));
});

test.each([
  '1e-400',
  '-1e-400',
  '1e400',
  '1e99999999999999999999',
  '4.9e-324',
  '0.123456789012345678',
  '1.00000000000000001',
  '9007199254740993',
  '12345678901234567',
  '-123456789012345678901',
  '2500.0000000000000001',
  // Seventeen digits, but the nearest double is a whole number: an amount would be taken for another.
  '1249.9999999999999',
  '4503599627370496.3',
  '0.99999999999999999',
  `1${'0'.repeat(400)}`,
  `0.${'0'.repeat(400)}1`,
  '9007199254740993.0',
])('%s would change', (source) => {
  expect(isInexact(source).a).toEqual([new InexactNumber(source)]);
});

test('texts and names that look like numbers stay', () => {
  const text = '{"1e400":"1e400","\\"1e400":["\\\\",1e400,"\\\\\\"9007199254740993"],"__proto__":{"a":0.1}}';
  const parsed = parseJson(text) as Record<string, unknown>;
  expect(Object.entries(parsed)).toEqual([
    ['1e400', '1e400'],
    ['"1e400', ['\\', new InexactNumber('1e400'), '\\"9007199254740993']],
    ['__proto__', { a: 0.1 }],
  ]);
});

test('a text that is not JSON is a SyntaxError', () => {
  for (const text of ['', '{', '01', '1e', '+1', '.5', '1.', "{'a':1e400}", 'NaN']) {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  }
});

test('every JSON that JavaScript writes is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.json({ noUnicodeString: false }), (text) => {
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
    { seed: 1_989, numRuns: 2_000 },
  );
});

test('every double is read, in 17 digits as in the fewest', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: 1e-300 }), (value) => {
      expect(parseJson(`[${String(value)}]`)).toEqual([value]);
      if (!Number.isInteger(value)) expect(parseJson(`[${value.toPrecision(17)}]`)).toEqual([value]);
    }),
    { seed: 1_989, numRuns: 2_000 },
  );
});
