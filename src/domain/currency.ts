import { data } from 'currency-codes';

/**
 * ISO 4217 from its maintainers' list (package `currency-codes`). Intl has no decimals for HUF, IDR and sixteen others,
 * ISO 4217 has: with Intl, 10000 HUF (100 forint) would be shown and paid out as 10 000.
 */
interface Currency {
  readonly code: string;
  /** Digits of the minor unit: 2 for EUR, 0 for JPY, 3 for KWD. */
  readonly digits: number;
}

/** Accounting units of international bodies: listed without a minor unit, and not used to pay. */
const ACCOUNTING_UNITS = ['XDR', 'XSU', 'XUA'];

/** Currencies since the date of the list, 2024-06-25. */
const ADDED: readonly Currency[] = [{ code: 'XCG', digits: 2 }];

// The list marks metals, bonds and test codes by pseudo-countries that begin with Zz.
const isMoney = (row: (typeof data)[number]) =>
  !ACCOUNTING_UNITS.includes(row.code) && !row.countries.some((country) => country.startsWith('Zz'));

const CURRENCIES: ReadonlyMap<string, Currency> = new Map(
  [...data.filter(isMoney), ...ADDED].map(({ code, digits }) => [code, { code, digits }]),
);

/** Codes of every currency that can be paid in, sorted. */
export const CURRENCY_CODES: readonly string[] = [...CURRENCIES.keys()].sort();

/** Whether the code is a currency that can be paid in. */
export function isCurrency(code: string): boolean {
  return CURRENCIES.has(code);
}

/** Digits of the currency's minor unit. Throws for a code that is not a currency. */
export function minorUnits(code: string): number {
  const currency = CURRENCIES.get(code);
  if (!currency) throw new RangeError(`${code} is not a currency.`);
  return currency.digits;
}

/**
 * An amount in minor units as a plain number in the main unit: 1050 EUR → `10.50`, 1050 JPY → `1050`. Exact up to
 * 2^53-1.
 */
export function decimalAmount(amount: number, currency: string): string {
  const digits = minorUnits(currency);
  if (digits === 0) return String(amount);
  const text = String(amount).padStart(digits + 1, '0');
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/**
 * An amount in minor units in the notation of a locale: 123450, EUR, `de` → `1.234,50 €`. An unknown locale is read as
 * English.
 */
export function formatAmount(amount: number, currency: string, locale = 'en'): string {
  // A decimal string, not a number: 2^53-1 minor units have more digits than a float of the main unit keeps.
  return formatOf(locale, currency).format(decimalAmount(amount, currency) as Intl.StringNumericLiteral);
}

/**
 * The first of these language tags in whose notation amounts can be written, with `-` where a client wrote `_`; `en`
 * when none can.
 */
export function knownLocale(tags: readonly string[]): string {
  return tags.map((tag) => tag.replaceAll('_', '-')).find(isKnown) ?? 'en';
}

function isKnown(tag: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    // No language tag, for example the `*` of Accept-Language.
    return false;
  }
}

/** Making a format costs a hundred times as much as using it. Bounded, as a customer's browser may name any locale. */
const FORMATS = new Map<string, Intl.NumberFormat>();
const FORMATS_MAX = 500;

function formatOf(locale: string, currency: string): Intl.NumberFormat {
  const key = `${locale} ${currency}`;
  const made = FORMATS.get(key);
  if (made !== undefined) return made;
  const digits = minorUnits(currency);
  const format = new Intl.NumberFormat(knownLocale([locale]), {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  if (FORMATS.size >= FORMATS_MAX) FORMATS.clear();
  FORMATS.set(key, format);
  return format;
}
