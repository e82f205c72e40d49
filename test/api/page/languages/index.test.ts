import type { Request } from 'express';
import { LANGUAGES, localize, textsFor } from '../../../../api/page/languages';

/** Every text below one, by its path; a text made of others says them again in its order. */
function flat(texts: object, path = ''): [string, string][] {
  return Object.entries(texts).flatMap(([name, text]: [string, unknown]) => {
    const here = `${path}${name}`;
    if (typeof text === 'string') return [[here, text]];
    if (typeof text !== 'function') return flat(text as object, `${here}.`);
    const said = (...parts: unknown[]) => (text as (...all: unknown[]) => string)(...parts);
    return name === 'attempts_left'
      ? [
          [`${here} 1`, said(1)],
          [`${here} 4`, said(4)],
        ]
      : [[here, said('⟨one⟩', '⟨two⟩')]];
  });
}

const ENGLISH = new Map(flat(textsFor(['en']).texts));
/** What may read the same in two languages: a word they share, names alone. */
const ALIKE = /^(error_title|wallet_card)$/;
const OTHERS = Object.keys(LANGUAGES).filter((lang) => lang !== 'en');

test('there are five languages', () => {
  expect(Object.keys(LANGUAGES).toSorted()).toEqual(['de', 'en', 'es', 'fr', 'nl']);
});

describe.each(OTHERS)('in %s', (lang) => {
  const texts = new Map(flat(LANGUAGES[lang]!.texts));

  test('is every text of English, and no other', () => {
    expect([...texts.keys()]).toEqual([...ENGLISH.keys()]);
  });

  test('no text is empty, left in English or without what it is to name', () => {
    const wrong = [...texts].filter(([path, text]) => {
      const english = ENGLISH.get(path) ?? '';
      const named = (of: string) => (of.match(/⟨\w+⟩/g) ?? []).toSorted().join();
      return (
        text.trim() === '' ||
        text !== text.trim() ||
        (text === english && !ALIKE.test(path)) ||
        named(text) !== named(english) ||
        text.endsWith('.') !== english.endsWith('.')
      );
    });
    expect(wrong).toEqual([]);
  });

  test('its dates are its own', () => {
    const { lang: named, dates } = LANGUAGES[lang]!;
    expect([named, new Intl.DateTimeFormat(dates).resolvedOptions().locale.split('-')[0]]).toEqual([lang, lang]);
  });
});

test.each(Object.keys(LANGUAGES))('in %s no error page claims that nothing was charged: it reads no record', (lang) => {
  const { problems, ended } = LANGUAGES[lang]!.texts;
  const not_charged = ended.cancelled.detail().replace('.', '');
  expect(Object.values(problems).filter(({ detail }) => detail.includes(not_charged))).toEqual([]);
});

test.each<[string, RegExp]>([
  ['en', /receive/],
  ['de', /erhalten/],
  ['es', /recib/],
  ['fr', /reçu/],
  ['nl', /ontvangen/],
])(
  'rules 12.11: in %s no result claims that the merchant has the money, which may be reserved or returned',
  (lang, word) => {
    const results = Object.values(LANGUAGES[lang]!.texts.ended).map(({ detail }) => detail('M'));
    expect(results.filter((text) => word.test(text))).toEqual([]);
  },
);

test.each<[string, string]>([
  ['en', 'do not start again at the shop'],
  ['de', 'beginnen Sie nicht im Shop von vorn'],
  ['es', 'no empieces de nuevo en la tienda'],
  ['fr', 'ne recommencez pas dans la boutique'],
  ['nl', 'begin niet opnieuw bij de winkel'],
])('rules 12.4: in %s a page that waits for an outcome says: %s', (lang, words) => {
  const { waiting_detail, unknown_charge_detail } = LANGUAGES[lang]!.texts;
  expect([waiting_detail, unknown_charge_detail]).toEqual([
    expect.stringContaining(words),
    expect.stringContaining(words),
  ]);
});

test.each<[string[], string]>([
  [['de-AT'], 'de'],
  [['NL'], 'nl'],
  [['ja', 'fr-CA', 'en'], 'fr'],
  [['ja'], 'en'],
  [['constructor', '*', ''], 'en'],
  [[], 'en'],
])('%j is read in %s', (wanted, lang) => {
  expect(textsFor(wanted).lang).toBe(lang);
});

describe('a page', () => {
  const aRequest = (...languages: string[]) => ({ acceptsLanguages: () => languages }) as unknown as Request;
  const spaced = (text: string) => text.replace(/\s/g, ' ');

  test.each<[string[], string[], string]>([
    [[], ['en-GB', 'en'], '€1,234.50'],
    [[], ['de-AT', 'en'], '€ 1.234,50'],
    [['fr-FR'], ['en'], '1 234,50 €'],
    [['fr-FR', 'de_DE'], ['en'], '1 234,50 €'],
    [['nl_NL'], ['en'], '€ 1.234,50'],
    [['no such locale'], ['de'], '1.234,50 €'],
    [['no such locale', 'de_DE'], ['en'], '1.234,50 €'],
    [[], ['*'], '€1,234.50'],
    [[], [], '€1,234.50'],
  ])('rules 12.10: of locales %j, for a browser in %j, writes amounts as %s', (locales, languages, expected) => {
    const amount = localize(aRequest(...languages), locales).amount({ amount: 123450, currency: 'EUR' });
    expect(spaced(amount)).toBe(expected);
  });

  test.each<[string[], string, string]>([
    [['nl_NL', 'fr'], 'de', 'nl'],
    [['fr_BE'], 'de', 'fr'],
    [['ja_JP'], 'de', 'de'],
    [[], 'ja', 'en'],
    // More languages than are looked at.
    [[], 'xx,'.repeat(20) + 'de', 'en'],
  ])('rules 12.10: of locales %j, for a browser in %s, is in %s', (locales, language, lang) => {
    expect(localize(aRequest(...language.split(',')), locales).lang).toBe(lang);
  });

  test('writes dates in the language of its texts, whatever the notation of amounts', () => {
    const instant = Date.UTC(2026, 2, 1, 12, 30);
    expect(localize(aRequest('ja')).instant(instant)).toBe('1 March 2026 at 12:30 UTC');
    expect(localize(aRequest('de-AT')).instant(instant)).toBe('1. März 2026 um 12:30 UTC');
  });
});
