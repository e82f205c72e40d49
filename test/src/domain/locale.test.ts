import { knownLocale } from '../../../src/domain/locale';

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
