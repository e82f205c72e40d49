import type { Request } from 'express';
import { readerOf } from '../../../api/page/reader';

const aRequest = (...languages: string[]) => ({ acceptsLanguages: () => languages }) as unknown as Request;
const order = { amount: 123450, currency: 'EUR' };
const spaced = (text: string) => text.replace(/\s/g, ' ');

test.each<[string | null, string[], string]>([
  [null, ['en-GB', 'en'], '€1,234.50'],
  [null, ['de-AT', 'en'], '€ 1.234,50'],
  ['fr-FR', ['en'], '1 234,50 €'],
  ['nl_NL', ['en'], '€ 1.234,50'],
  ['no such locale', ['de'], '1.234,50 €'],
  [null, ['*'], '€1,234.50'],
  [null, [], '€1,234.50'],
])('locale %p and Accept-Language %p: %s', (locale, languages, expected) => {
  expect(spaced(readerOf(aRequest(...languages), { locale, customer: null }).amount(order))).toBe(expected);
});

test.each<[string | null, unknown, string]>([
  [null, 'de_DE', '1.234,50 €'],
  ['fr-FR', 'de_DE', '1 234,50 €'],
  ['no such locale', 'de_DE', '1.234,50 €'],
  [null, 'no such locale', '€1,234.50'],
  [null, 7, '€1,234.50'],
])('order.locale %p and customer.locale %p: %s', (locale, of_customer, expected) => {
  expect(spaced(readerOf(aRequest('en'), { locale, customer: { locale: of_customer } }).amount(order))).toBe(expected);
});

test('the page’s language is that of its texts, whatever the notation of amounts', () => {
  expect(readerOf(aRequest('ja')).lang).toBe('en');
  expect(readerOf(aRequest('ja')).instant(Date.UTC(2026, 2, 1, 12, 30))).toBe('1 March 2026 at 12:30 UTC');
  expect(readerOf(aRequest('de-AT')).lang).toBe('de');
  expect(readerOf(aRequest('de-AT')).instant(Date.UTC(2026, 2, 1, 12, 30))).toBe('1. März 2026 um 12:30 UTC');
});

test.each<[string | null, string | null, string, string]>([
  ['nl_NL', 'fr', 'de', 'nl'],
  [null, 'fr_BE', 'de', 'fr'],
  ['ja_JP', null, 'de', 'de'],
  [null, null, 'ja', 'en'],
])('order.locale %p, customer.locale %p, Accept-Language %p: in %s', (locale, of_customer, language, lang) => {
  expect(readerOf(aRequest(language), { locale, customer: { locale: of_customer } }).lang).toBe(lang);
});
