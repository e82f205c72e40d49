import { cardNumberLength, isCardNumber, yearFollows } from './card-number';

/** Card numbers in the runs of digits of a text: in one run, in groups as on a card, in pairs or in single digits. */

export const DIGITS_MAX = 19;
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
/** A run of digits. */
interface Group {
  start: number;
  end: number;
  /** Between it and the run before, where both may be groups of one number. */
  separator: string | undefined;
  /** It may continue the number that the run before it began; in a list it may not. */
  joined: boolean;
}

/** A part of a text. */
export interface Position {
  start: number;
  end: number;
}

/** Positions in a text of the card numbers that have at least `digits_min` digits. */
export function* cardNumbersInGroups(text: string, digits_min: number): Generator<Position> {
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
    // Further groups of four belong to a longer number, such as a parcel's, unless they end like a card number.
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

/** Lengths of a group and of the groups joined to it: one more than a card number can have, at most. */
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
