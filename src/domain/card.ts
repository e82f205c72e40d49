import { DIGITS_MAX, cardNumbersInGroups, type Position } from './card-groups';
import { READINGS, readings, type Reading } from './card-reading';
import { withoutOtherNumbers } from './other-numbers';

/**
 * Card numbers in texts. A card number has the prefix, the length and the check digit of a card brand, and is written
 * in one run of digits, in groups as on a card, in halves, in pairs or in single digits (rules 15.6).
 *
 * A text is searched as it is read: without invisible characters, with the digits of any script as 0 to 9, and
 * percent-encoding and HTML decoded. UUIDs, digests, tokens and IBANs are passed over, because parts of them look like
 * card numbers.
 */

/**
 * Digits of the shortest card number. In other places than card details, 12 and 13 digits are an article's or a phone's
 * number.
 */
const DIGITS_MIN = { anywhere: 14, card_details: 12 } as const;

/** A text that does not match holds no card number. */
const DIGITS_OF_CARD = /\d{12}|\d{4}\D{1,4}\d{4}|(?:(?<!\d)\d{1,2}[^\p{L}\p{N}]{1,4}){6}\d/u;

/** Whether a text holds a card number. `in_card_details`: it stands in `payment_method_details`. */
export function holdsCardNumber(text: string, { in_card_details = false } = {}): boolean {
  if (text.length < DIGITS_MIN.card_details / 2) return false;
  const digits_min = in_card_details ? DIGITS_MIN.card_details : DIGITS_MIN.anywhere;
  for (const reading of readings(text)) {
    if (cardNumbersIn(reading, digits_min).next().done === false) return true;
  }
  return false;
}

/**
 * Whether the values of an array are the groups of a card number, such as `["4111", "1111", "1111", "1111"]`. Numbers
 * are only in groups of four: other arrays of numbers are quantities and prices.
 */
export function isCardNumberInGroups(values: readonly unknown[], place: { in_card_details?: boolean }): boolean {
  if (values.length < 3 || values.length > DIGITS_MAX) return false;
  const groups = values.map((value) => (typeof value === 'number' ? `${value}` : value));
  if (!groups.every((group): group is string => typeof group === 'string' && /^\d{1,6}$/.test(group))) return false;
  const hasOtherNumbers = values.some((value) => typeof value === 'number' && !(value >= 1_000 && value <= 9_999));
  return !hasOtherNumbers && holdsCardNumber(groups.join(','), place);
}

/** The text with a replacement for every card number. */
export function replaceCardNumbers(text: string, replacement: string): string {
  if (!holdsCardNumber(text)) return text;
  return READINGS.reduce(
    (replaced, reading) => (reading.applies(replaced) ? replaceIn(replaced, reading, replacement) : replaced),
    text,
  );
}

/** Positions of the card numbers in a reading. */
function* cardNumbersIn(reading: string, digits_min: number): Generator<Position> {
  if (!DIGITS_OF_CARD.test(reading)) return;
  yield* cardNumbersInGroups(withoutOtherNumbers(reading), digits_min);
}

/**
 * Replaces the card numbers of one reading, which is made piece by piece to know where each of its characters came
 * from.
 */
function replaceIn(text: string, { pieces, read }: Reading, replacement: string): string {
  let reading = '';
  const origin: Position[] = [];
  for (const { 0: piece, index } of text.matchAll(pieces)) {
    const shown = read(piece);
    reading += shown;
    for (let i = 0; i < shown.length; i += 1) origin.push({ start: index, end: index + piece.length });
  }
  let result = '';
  let done = 0;
  const found = [...cardNumbersIn(reading, DIGITS_MIN.anywhere)].toSorted((a, b) => a.start - b.start);
  for (const { start, end } of found) {
    const [from, to] = [origin[start]?.start ?? 0, origin[end - 1]?.end ?? text.length];
    if (from < done) continue;
    result += text.slice(done, from) + replacement;
    done = to;
  }
  return result + text.slice(done);
}
