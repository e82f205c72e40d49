import { creditCardType } from 'card-validator';

/** Whether a run of digits is, or begins with, the number of a card. */

/** Lengths of a card number by its prefix. Where several prefixes fit, the longest counts. */
const LENGTHS = new Map<string, readonly number[]>();
for (const type of Object.values(creditCardType.types)) {
  const { patterns, lengths } = creditCardType.getTypeInfo(type);
  for (const [low = 0, high = low] of patterns.map((pattern) => [pattern].flat())) {
    for (let prefix = low; prefix <= high; prefix += 1) {
      if (!LENGTHS.has(String(prefix))) LENGTHS.set(String(prefix), lengths);
    }
  }
}
const PREFIX_LENGTHS = [8, 7, 6, 5, 4, 3, 2, 1];

/**
 * Whether digits are a card number. The package has a function for it, which takes so long (0.2 ms) that a body full of
 * numbers would block the process for seconds.
 */
export function isCardNumber(digits: string): boolean {
  if (!hasCheckDigit(digits)) return false;
  const prefix = PREFIX_LENGTHS.map((length) => digits.slice(0, length)).find((one) => LENGTHS.has(one));
  return prefix !== undefined && LENGTHS.get(prefix)?.includes(digits.length) === true;
}

/** Luhn: every second digit from the right counts double, and the sum of all digits is a multiple of ten. */
function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    const counted = i % 2 === 0 ? digit : digit * 2;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum % 10 === 0;
}

/** MMYY or MMYYYY, and a security code after it. */
const EXPIRY = /^(?:0[1-9]|1[0-2])(?:20)?[2-4]\d(?:\d{3,4})?$/;
/** The month of an expiry, and the text after it. */
const MONTH = /^(?:0[1-9]|1[0-2])$/;
const YEAR = /^ ?[/-] ?(?:20)?[2-4]\d(?!\d)/;
/** Lengths of the card numbers that an expiry or code may follow. */
const LENGTHS_WITH_MORE = [16, 15, 14];

/** Whether a text begins with the year of an expiry whose month came before: `/30`. */
export const yearFollows = (text: string): boolean => YEAR.test(text);

/**
 * Digits of the card number that a run of digits begins with, 0 for none: the run is the number, or the number and
 * directly after it an expiry, a security code or both. `after` is what follows the run.
 */
export function cardNumberLength(digits: string, after: string): number {
  if (isCardNumber(digits)) return digits.length;
  const found = LENGTHS_WITH_MORE.find((length) => {
    const rest = digits.slice(length);
    // A code of four digits is that of American Express.
    const isCode = rest.length === 3 ? length === 16 : rest.length === 4 && length === 15 && /^3[47]/.test(digits);
    const isExpiry = EXPIRY.test(rest) || (MONTH.test(rest) && yearFollows(after));
    return (isCode || isExpiry) && isCardNumber(digits.slice(0, length));
  });
  return found ?? 0;
}
