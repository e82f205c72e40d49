import { cardNumberLength, isCardNumber, yearFollows } from './card-number';
import { READINGS, readings, type Reading } from './card-reading';

/**
 * Card numbers in texts. A card number has the prefix, the length and the check digit of a card brand, and is written
 * in one run of digits, in groups as on a card, in halves, in pairs or in single digits (rules 15.6).
 *
 * A text is searched as it is read: without invisible characters, with the digits of any script as 0 to 9, and
 * percent-encoding and HTML decoded. UUIDs, digests, tokens and IBANs are passed over, because parts of them look like card
 * numbers.
 */

/**
 * Digits of the shortest card number. In other places than card details, 12 and 13 digits are an article's or a phone's
 * number.
 */
const DIGITS_MIN = { anywhere: 14, card_details: 12 } as const;
const DIGITS_MAX = 19;

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
  [4, 12],
  [6, 10],
  [8, 8],
];
const GROUPS_MAX = Math.max(...GROUPINGS.map((grouping) => grouping.length));
/** Groupings that may also stand in a list, such as an array, and those whose last group a code may follow directly. */
const ON_CARDS = ['4-4-4-4', '4-4-4-4-3', '4-6-4', '4-6-5'];

/**
 * One to three characters between two groups; none that separates the numbers of a list or the parts of a network
 * address.
 */
const SEPARATOR = /^(?:[^\p{L}\p{N},;:'"()[\]{}<>=&?!%]{1,3}|\\[nrt])$/u;
/** Between two halves only: other marks stand in telephone numbers and decimals. */
const SEPARATOR_OF_HALVES = /^[\t \p{Zs}\p{Pd}\u2212_]{1,3}$/u;
/** Separates the numbers of a list; with quotation marks where they are texts. */
const LIST_SEPARATOR = /^["']? ?[,;:] ?["']?$/;
const SEPARATOR_LENGTH_MAX = 4;
/** A text without this holds no card number. */
const DIGITS_OF_CARD = /\d{12}|\d{4}\D{1,4}\d{4}|(?:(?<!\d)\d{1,2}[^\p{L}\p{N}]{1,4}){6}\d/u;

/** Numbers that are none of a card. */
const UUID = /(?<![\da-z])[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}(?![\da-z])/gi;
/**
 * UUIDs without hyphens, digests, tokens; not the data of a magnetic stripe as a chip gives it: number, D, expiry, digits, F.
 */
const HEXADECIMAL =
  /(?<![\da-z])(?=\d*[a-f])(?!\d{12,19}d\d\d(?:0[1-9]|1[0-2])\d{3,}f?(?![\da-z]))[\da-f]{24,}(?![\da-z])/gi;
/** The shape of an IBAN, and of words after it; the check digits tell where it ends. */
const IBAN_SHAPE = /(?<![\da-z])[a-z]{2}\d{2}(?: ?[\da-z]{4}){2,7}(?: ?[\da-z]{1,3})?(?![\da-z])/gi;
const IBAN_LENGTH_MIN = 15;

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

/** A run of digits. */
interface Group {
  start: number;
  end: number;
  /** Between it and the run before, where both may be groups of one number. */
  separator: string | undefined;
  /** It may go on what the run before it began; in a list it may not. */
  joined: boolean;
}

interface Position {
  start: number;
  end: number;
}

/** Positions of the card numbers in a reading. */
function* cardNumbersIn(reading: string, digits_min: number): Generator<Position> {
  if (!DIGITS_OF_CARD.test(reading)) return;
  const text = withoutOtherNumbers(reading);
  const groups = groupsIn(text);
  for (const [first, { start }] of groups.entries()) {
    const end = cardNumberEnd(text, groups, first, digits_min);
    if (end !== undefined) yield { start, end };
  }
  yield* cardNumbersInRuns(text, groups, digits_min);
}

function groupsIn(text: string): Group[] {
  const groups: Group[] = [];
  const kinds = new Map<string, Pick<Group, 'separator' | 'joined'>>();
  let last = -Infinity;
  for (const { 0: digits, index: start } of text.matchAll(/\d+/g)) {
    const between = start - last <= SEPARATOR_LENGTH_MAX ? text.slice(last, start) : '';
    const kind = kinds.get(between) ?? kindOf(between);
    kinds.set(between, kind);
    last = start + digits.length;
    groups.push({ start, end: last, ...kind });
  }
  return groups;
}

function kindOf(between: string): Pick<Group, 'separator' | 'joined'> {
  const joined = SEPARATOR.test(between);
  return { joined, separator: joined || LIST_SEPARATOR.test(between) ? between : undefined };
}

/**
 * Card numbers in single digits, in pairs, and in the groups of a card as a list. The separator is the same between all
 * groups, and none stands before or after them.
 */
function* cardNumbersInRuns(text: string, groups: readonly Group[], digits_min: number): Generator<Position> {
  for (let first = 0; first < groups.length;) {
    const run = runFrom(groups, first);
    // The last group may begin the next run, with another separator.
    first += Math.max(run.length - 1, 1);
    for (const part of [run, ...uniformParts(run)]) {
      const found = part.length < 3 ? undefined : cardNumberOfRun(text, part, digits_min);
      if (found === undefined) continue;
      yield found;
      break;
    }
  }
}

/** A group and those after it that the same separator joins. */
function runFrom(groups: readonly Group[], first: number): Group[] {
  const separator = groups[first + 1]?.separator;
  let end = first + 1;
  while (separator !== undefined && groups[end]?.separator === separator) end += 1;
  return groups.slice(first, end);
}

/** The parts of a run whose groups are equally long, single digits or pairs; after pairs there may be a digit. */
function uniformParts(run: readonly Group[]): Group[][] {
  const parts: Group[][] = [];
  for (const group of run) {
    const part = parts.at(-1);
    const [length, previous, own] = [part?.at(0), part?.at(-1), group].map(lengthOf);
    const goesOn = previous === length && (own === length || (length === 2 && own === 1));
    if (part !== undefined && goesOn) part.push(group);
    else parts.push([group]);
  }
  return parts.filter(([group]) => lengthOf(group) <= 2);
}

const lengthOf = (group: Group | undefined) => (group === undefined ? 0 : group.end - group.start);

function cardNumberOfRun(text: string, run: readonly Group[], digits_min: number): Position | undefined {
  const [start, separator] = [run[0]!.start, run[1]!.separator!];
  const lengths = run.map(lengthOf);
  const numbers = run.map((group) => text.slice(group.start, group.end));
  const isExpiry = lengths.at(-1) === 2 && yearFollows(text.slice(run.at(-1)!.end, run.at(-1)!.end + 8));
  if (lengths[0] === 2 && isExpiry) numbers.pop();
  const end = run[numbers.length - 1]!.end;
  const inSmallGroups = lengths.every((length, i) => length === lengths[0] || i === lengths.length - 1);
  if (lengths[0]! <= 2 && inSmallGroups) {
    if (isSorted(numbers)) return undefined;
  } else {
    if (!LIST_SEPARATOR.test(separator) || !ON_CARDS.includes(lengths.join('-')) || isList(numbers)) return undefined;
    if (separator === ':' && isPartOfAddress(text, start, end)) return undefined;
  }
  const digits = numbers.join('');
  return digits.length >= digits_min && digits.length <= DIGITS_MAX && isCardNumber(digits)
    ? { start, end }
    : undefined;
}

/** Sizes: 41, 42, 43 … */
function isSorted(numbers: readonly string[]): boolean {
  const rises = numbers.slice(1).map((number, i) => Number(number) > Number(numbers[i]));
  const falls = numbers.slice(1).map((number, i) => Number(number) < Number(numbers[i]));
  return rises.every(Boolean) || falls.every(Boolean);
}

/** Prices, which end with 0, 5 or 9, or the numbers of articles, which are distinct and of one size. */
function isList(numbers: readonly string[]): boolean {
  if (numbers.some((number) => number.startsWith('0'))) return false;
  if (numbers.every((number) => /[059]$/.test(number))) return true;
  const values = numbers.map(Number);
  return new Set(values).size === values.length && Math.max(...values) <= 1.75 * Math.min(...values);
}

/** Whether the groups with colons are a part of an IPv6 address. */
function isPartOfAddress(text: string, start: number, end: number): boolean {
  const before = /(?<![\da-z])[\da-f]{0,4}:$/i.test(text.slice(Math.max(start - 6, 0), start));
  return before || /^(?::[:\da-f]|\/\d)/i.test(text.slice(end, end + 2));
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
function cardNumberEnd(text: string, groups: readonly Group[], first: number, digits_min: number): number | undefined {
  const { start, end } = groups[first]!;
  const length = end - start;
  if (length >= digits_min && numberLengthAt(text, start, end) > 0) return end;
  if (length !== 4 && length !== 6 && length !== 8) return undefined;
  const lengths = lengthsFrom(groups, first);
  const [, second] = lengths;
  const within = groups[first]?.joined === true && lengthsFrom(groups, first - 1)[0] === 4;
  for (const grouping of GROUPINGS) {
    const count = grouping.length;
    if (sum(grouping) < digits_min || lengths.length < count) continue;
    if (!grouping.slice(0, -1).every((expected, i) => lengths[i] === expected)) continue;
    const more = lengths[count - 1]! - grouping[count - 1]!;
    if (more < 0 || (more > 0 && !ON_CARDS.includes(grouping.join('-')))) continue;
    // Groups of four that go on after four digits are a part of a longer number, as of a parcel, unless they end as a
    // card's do.
    if (within && second === 4 && !(sum(grouping) === 16 && lengths.length === 4)) continue;
    if (count === 2 && !SEPARATOR_OF_HALVES.test(groups[first + 1]!.separator!)) continue;
    if (count === 2 && isDate(text.slice(start, end))) continue;
    const last = groups[first + count - 1]!.end;
    if (numberLengthAt(text, start, last) === sum(grouping)) return last;
  }
  return undefined;
}

/** Digits of the card number at the beginning of a part of the text, 0 for none; an expiry or code may follow it. */
const numberLengthAt = (text: string, start: number, end: number): number =>
  end - start > 4 * DIGITS_MAX
    ? 0
    : cardNumberLength(text.slice(start, end).replace(/\D/g, ''), text.slice(end, end + 8));

/** Whether six digits are a day of these years, as numbers of orders begin: 260115. */
const isDate = (digits: string): boolean => /^2[2-7](?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/.test(digits);

/** Lengths of a group and of those joined to it; no more than a card number has, and one. */
function lengthsFrom(groups: readonly Group[], first: number): number[] {
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
