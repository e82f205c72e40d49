import {
  CURRENCY_CODES,
  decimalAmount,
  formatAmount,
  isCurrency,
  knownLocale,
  minorUnits,
} from '../../../src/domain/currency';

test.each([
  ['EUR', 2],
  ['USD', 2],
  ['JPY', 0],
  ['KWD', 3],
  ['CLF', 4],
  // The guilder of Curaçao and Sint Maarten since 2025.
  ['XCG', 2],
  // The five below are those that Intl gets wrong.
  ['HUF', 2],
  ['IDR', 2],
  ['PKR', 2],
  ['COP', 2],
  ['IQD', 3],
])('%s has %i digits in ISO 4217', (code, digits) => {
  expect(minorUnits(code)).toBe(digits);
});

test.each(['XXX', 'XTS', 'XAU', 'XDR', 'ABC', 'eur', 'EURO', ''])('rules 5.2: %j is nothing one can pay in', (code) => {
  expect(isCurrency(code)).toBe(false);
  expect(() => minorUnits(code)).toThrow(RangeError);
});

test('currencies of several countries stay', () => {
  expect(CURRENCY_CODES).toEqual(expect.arrayContaining(['XAF', 'XCD', 'XOF', 'XPF', 'EUR']));
  expect([...CURRENCY_CODES].sort()).toEqual(CURRENCY_CODES);
});

test.each([
  [1050, 'EUR', '10.50'],
  [5, 'EUR', '0.05'],
  [0, 'EUR', '0.00'],
  [1050, 'JPY', '1050'],
  [1, 'KWD', '0.001'],
  [Number.MAX_SAFE_INTEGER, 'EUR', '90071992547409.91'],
  [Number.MAX_SAFE_INTEGER, 'KWD', '9007199254740.991'],
])('%i %s is %s in the main unit', (amount, currency, text) => {
  expect(decimalAmount(amount, currency)).toBe(text);
});

test.each([
  [123450, 'EUR', 'de', '1.234,50 €'],
  [123450, 'EUR', 'en', '€1,234.50'],
  [123450, 'EUR', 'nl_NL', '€ 1.234,50'],
  [1050, 'JPY', 'en', '¥1,050'],
  [10000, 'HUF', 'hu', '100,00 Ft'],
  [Number.MAX_SAFE_INTEGER, 'EUR', 'en', '€90,071,992,547,409.91'],
  [2500, 'EUR', 'no such locale', '€25.00'],
  [2500, 'EUR', '', '€25.00'],
])('%i %s reads in %j as %s', (amount, currency, locale, text) => {
  expect(formatAmount(amount, currency, locale).replace(/\s/g, ' ')).toBe(text);
});

test.each([
  [['de'], 'de'],
  [['nl_NL'], 'nl-NL'],
  [['tlh', 'fr-CA', 'de'], 'fr-CA'],
  [['*', 'no such tag', '', 'es'], 'es'],
  [['*'], 'en'],
  [[], 'en'],
])('of %j the locale is %s', (tags, locale) => {
  expect(knownLocale(tags)).toBe(locale);
});
