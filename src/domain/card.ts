import { creditCardType } from 'card-validator';

/**
 * Card numbers in texts. A card number has the prefix, the length and the check digit of a card brand, and is written
 * in one run of digits or in groups as on a card.
 *
 * A text is searched as it is read: without invisible characters, with the digits of any script as 0 to 9, and
 * percent-encoding decoded. UUIDs, digests, tokens and IBANs are passed over, because parts of them look like card
 * numbers.
 */

/**
 * Digits of the shortest card number. In other places than card details, 12 and 13 digits are an article's or a phone's
 * number.
 */
const DIGITS_MIN = { anywhere: 14, card_details: 12 } as const;

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

/** Lengths of the groups of a card number that is not written in one run. */
const GROUPINGS: readonly (readonly number[])[] = [
  [4, 4, 4],
  [4, 4, 5],
  [4, 4, 4, 1],
  [4, 4, 4, 3],
  [4, 4, 4, 4],
  [4, 4, 4, 4, 1],
  [4, 4, 4, 4, 2],
  [4, 4, 4, 4, 3],
  [4, 6, 4],
  [4, 6, 5],
];
const GROUPS_MAX = Math.max(...GROUPINGS.map((grouping) => grouping.length));

/**
 * One to three characters between two groups; none that separates the numbers of a list or the parts of a network
 * address.
 */
const SEPARATOR = /^(?:[^\p{L}\p{N},;:'"()[\]{}<>=&?!%]{1,3}|\\[nrt])$/u;
const SEPARATOR_LENGTH_MAX = 3;
/** A text without this holds no card number. */
const DIGITS_OF_CARD = /\d{12}|\d{4}\D{1,3}\d{4}/;

/** Numbers that are none of a card. */
const UUID = /(?<![\da-z])[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}(?![\da-z])/gi;
/**
 * UUIDs without hyphens, digests, tokens; not the data of a magnetic stripe as a chip gives it: number, D, digits, F.
 */
const HEXADECIMAL = /(?<![\da-z])(?=\d*[a-f])(?!\d{12,19}d\d*f?(?![\da-z]))[\da-f]{24,}(?![\da-z])/gi;
/** The shape of an IBAN, and of words after it; the check digits tell where it ends. */
const IBAN_SHAPE = /(?<![\da-z])[a-z]{2}\d{2}(?: ?[\da-z]{4}){2,7}(?: ?[\da-z]{1,3})?(?![\da-z])/gi;
const IBAN_LENGTH_MIN = 15;

// oxlint-disable-next-line no-control-regex
const NOT_PRINTABLE_ASCII = /[^\t\n\v\f\r\x20-\x7e]/;
/** A card number has 12 digits; no single character is read as more than two. */
const MAY_HOLD_CARD_NUMBER = /(?:\p{N}\P{N}*){6}/u;
// oxlint-disable-next-line no-control-regex
const INVISIBLE = /[\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\x00-\x08\x0e-\x1f\x7f-\x9f]/gu;
const FOREIGN_DIGIT = /[^\P{Nd}0-9]/gu;
/** Percent-encoded characters, encoded once or several times: `%34`, `%2534`. */
const PERCENT_ENCODED = /(?:%(?:25)*[0-9a-f]{2})+/gi;
/** The characters that are read at once where positions count. */
const PIECE = /./gsu;
const PIECE_DECODED = new RegExp(`${PERCENT_ENCODED.source}|.`, 'gisu');

/** Whether a text holds a card number. `in_card_details`: it stands in `payment_method_details`. */
export function holdsCardNumber(text: string, { in_card_details = false } = {}): boolean {
  if (text.length < DIGITS_MIN.card_details / 2) return false;
  const digits_min = in_card_details ? DIGITS_MIN.card_details : DIGITS_MIN.anywhere;
  return readings(text).some((reading) => cardNumbersIn(reading, digits_min).next().done === false);
}

/** The text with a replacement for every card number. */
export function replaceCardNumbers(text: string, replacement: string): string {
  if (!holdsCardNumber(text)) return text;
  // Decoded first: what is percent-encoded several times may also hold card numbers as it stands.
  return replaceIn(replaceIn(text, PIECE_DECODED, replacement), PIECE, replacement);
}

/** How a text may be read: as it stands and, where something in it is percent-encoded, decoded. */
function readings(text: string): string[] {
  if (NOT_PRINTABLE_ASCII.test(text) && !MAY_HOLD_CARD_NUMBER.test(text)) return [];
  const visible = visibleText(text);
  const decoded = decodePercent(visible);
  return decoded === visible ? [visible] : [visible, visibleText(decoded)];
}

function visibleText(text: string): string {
  if (!NOT_PRINTABLE_ASCII.test(text)) return text;
  return text.normalize('NFKC').replace(INVISIBLE, '').replace(FOREIGN_DIGIT, asciiDigit);
}

const asciiDigits = new Map<string, string>();

/** The value of a decimal digit: Unicode has the ten digits of a script one after the other. */
function asciiDigit(digit: string): string {
  const known = asciiDigits.get(digit);
  if (known !== undefined) return known;
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  const value = String((code - zero) % 10);
  asciiDigits.set(digit, value);
  return value;
}

function decodePercent(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(PERCENT_ENCODED, (encoded) => {
    const once = encoded.replace(/%(?:25)+(?=[0-9a-f]{2})/gi, '%');
    try {
      return decodeURIComponent(once);
    } catch {
      // Not UTF-8, so each byte is a character.
      return once.replace(/%(..)/g, (_, byte: string) => String.fromCharCode(parseInt(byte, 16)));
    }
  });
}

/** A run of digits; `joined`: it may go on what the run before it began. */
interface Group {
  start: number;
  end: number;
  joined: boolean;
}

/** Positions of the card numbers in a reading. */
function* cardNumbersIn(reading: string, digits_min: number): Generator<{ start: number; end: number }> {
  if (!DIGITS_OF_CARD.test(reading)) return;
  const text = withoutOtherNumbers(reading);
  const groups = groupsIn(text);
  for (const [first, { start }] of groups.entries()) {
    const end = cardNumberEnd(text, groups, first, digits_min);
    if (end !== undefined) yield { start, end };
  }
}

function groupsIn(text: string): Group[] {
  const groups: Group[] = [];
  let last = -Infinity;
  for (const { 0: digits, index: start } of text.matchAll(/\d+/g)) {
    const joined = start - last <= SEPARATOR_LENGTH_MAX && SEPARATOR.test(text.slice(last, start));
    last = start + digits.length;
    groups.push({ start, end: last, joined });
  }
  return groups;
}

/** The reading with letters in place of the numbers that are none of a card; positions stay. */
function withoutOtherNumbers(reading: string): string {
  const blank = (found: string) => 'x'.repeat(found.length);
  return reading
    .replace(UUID, blank)
    .replace(HEXADECIMAL, blank)
    .replace(IBAN_SHAPE, (found) => {
      const length = ibanLength(found);
      return blank(found.slice(0, length)) + found.slice(length);
    });
}

/**
 * Characters of the IBAN that a text begins with, 0 for none: as a number modulo 97 it is 1, letters being 10 to 35
 * (ISO 13616).
 */
function ibanLength(text: string): number {
  const appended = (rest: number, character: string) => {
    const value = parseInt(character, 36);
    return (rest * (value > 9 ? 100 : 10) + value) % 97;
  };
  // The country and the check digits count last.
  const modulo97 = (rest: number) => Array.from(text.slice(0, 4)).reduce(appended, rest);
  let length = 0;
  let rest = 0;
  for (let i = 4; i < text.length; i += 1) {
    const character = text.charAt(i);
    if (character !== ' ') rest = appended(rest, character);
    const ends = i + 1 === text.length || text.charAt(i + 1) === ' ';
    if (ends && i + 1 >= IBAN_LENGTH_MIN && modulo97(rest) === 1) length = i + 1;
  }
  return length;
}

/** Where the card number that begins with a group ends; `undefined` when none begins there. */
function cardNumberEnd(text: string, groups: Group[], first: number, digits_min: number): number | undefined {
  const lengths = lengthsFrom(groups, first);
  const [length = 0, second] = lengths;
  if (length >= digits_min && isCardNumber(text.slice(groups[first]?.start, groups[first]?.end))) {
    return groups[first]?.end;
  }
  if (length !== 4 || (second !== 4 && second !== 6)) return undefined;
  const within = groups[first]?.joined === true && lengthsFrom(groups, first - 1)[0] === 4;
  for (const grouping of GROUPINGS) {
    if (sum(grouping) < digits_min || !grouping.every((expected, i) => lengths[i] === expected)) continue;
    // Groups of four that go on after four digits are a part of a longer number, as of a parcel, unless they end as a
    // card's do.
    if (within && second === 4 && !(sum(grouping) === 16 && lengths.length === 4)) continue;
    const last = groups[first + grouping.length - 1]?.end ?? 0;
    if (isCardNumber(text.slice(groups[first]?.start, last).replace(/\D/g, ''))) return last;
  }
  return undefined;
}

/** Lengths of a group and of those joined to it; no more than a card number has, and one. */
function lengthsFrom(groups: Group[], first: number): number[] {
  const lengths: number[] = [];
  for (let i = first; i < groups.length && lengths.length <= GROUPS_MAX; i += 1) {
    const group = groups[i];
    if (group === undefined || (i > first && !group.joined)) break;
    lengths.push(group.end - group.start);
  }
  return lengths;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/**
 * Whether digits are a card number. The package has a function for it, which takes so long (0.2 ms) that a body full of
 * numbers would block the process for seconds.
 */
function isCardNumber(digits: string): boolean {
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

/**
 * Replaces the card numbers of one reading, which is made piece by piece to know where each of its characters came
 * from.
 */
function replaceIn(text: string, pieces: RegExp, replacement: string): string {
  let reading = '';
  const origin: { start: number; end: number }[] = [];
  for (const { 0: piece, index } of text.matchAll(pieces)) {
    const read = visibleText(decodePercent(piece));
    reading += read;
    for (let i = 0; i < read.length; i += 1) origin.push({ start: index, end: index + piece.length });
  }
  let result = '';
  let done = 0;
  for (const { start, end } of cardNumbersIn(reading, DIGITS_MIN.anywhere)) {
    const [from, to] = [origin[start]?.start ?? 0, origin[end - 1]?.end ?? text.length];
    if (from < done) continue;
    result += text.slice(done, from) + replacement;
    done = to;
  }
  return result + text.slice(done);
}
