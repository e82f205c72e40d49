import type { Request } from 'express';
import { formatAmount } from '../../../src/domain/currency';
import { knownLocale } from '../../../src/domain/currency';
import type { Wallet } from '../../../src/processor/wire';
import { DE } from './de';
import { EN, type Texts } from './en';
import { ES } from './es';
import { FR } from './fr';
import { NL } from './nl';

export type { Texts } from './en';

interface Language {
  lang: string;
  /** Locale of dates, so that they read like the sentence around them. */
  dates: string;
  texts: Texts;
}

const ENGLISH: Language = { lang: 'en', dates: 'en-GB', texts: EN };

/** By primary language subtag. */
export const LANGUAGES: Readonly<Record<string, Language>> = {
  en: ENGLISH,
  de: { lang: 'de', dates: 'de-DE', texts: DE },
  es: { lang: 'es', dates: 'es-ES', texts: ES },
  fr: { lang: 'fr', dates: 'fr-FR', texts: FR },
  nl: { lang: 'nl', dates: 'nl-NL', texts: NL },
};

/** The texts in the first language of the list that there is; English where there is none. */
export function textsFor(wanted: readonly string[]): Language {
  const languages = wanted.map((locale) => locale.split(/[-_]/)[0]?.toLowerCase() ?? '');
  return LANGUAGES[languages.find((language) => Object.hasOwn(LANGUAGES, language)) ?? 'en'] ?? ENGLISH;
}

/** Names are the same in every language. */
export const WALLET_NAMES: Readonly<Record<Wallet, string>> = { 'apple-pay': 'Apple Pay', 'google-pay': 'Google Pay' };

const BRAND_NAMES: Readonly<Record<string, string>> = {
  visa: 'Visa',
  mastercard: 'Mastercard',
  'american-express': 'American Express',
  'diners-club': 'Diners Club',
  discover: 'Discover',
  jcb: 'JCB',
  unionpay: 'UnionPay',
  maestro: 'Maestro',
};

/** A card's brand as people write it. */
export function brandName(brand: string): string {
  return BRAND_NAMES[brand] ?? brand;
}

/** A page in the customer's language and notation. */
export interface Localization {
  /** The value of `<html lang>`. */
  readonly lang: string;
  readonly texts: Texts;
  /** An amount of minor units. */
  amount(money: { amount: number; currency: string }): string;
  /** An instant in words. In UTC: without a script the customer's time zone is unknown. */
  instant(epoch_ms: number): string;
}

/** Of the languages that a browser names so many are looked at: each takes time, and a header holds thousands. */
const LANGUAGES_MAX = 20;

/** Chosen by these locales, the first that is known, else by the browser's languages. */
export function localize(request: Request, locales: readonly string[] = []): Localization {
  const wanted = [...locales, ...request.acceptsLanguages().slice(0, LANGUAGES_MAX)];
  const locale = knownLocale(wanted);
  const { lang, dates, texts } = textsFor(wanted);
  const instants = new Intl.DateTimeFormat(dates, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return {
    lang,
    texts,
    amount: ({ amount, currency }) => formatAmount(amount, currency, locale),
    instant: (epoch_ms) => `${instants.format(epoch_ms)} UTC`,
  };
}
