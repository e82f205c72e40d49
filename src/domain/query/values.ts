import { FIELDS, type Field, type FieldName } from './fields';
import type { Bound, SearchQuery } from './query';
import { fold, nearest } from './text';
import { DAY_MS } from '../period';

/**
 * Thrown for a value that its field cannot have. Says which values the field takes, with a suggestion if one is near.
 * Never repeats the value.
 */
export class ValueProblem extends Error {
  constructor(
    message: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** One end of a range, as it was written. */
interface End {
  readonly text: string;
  readonly inclusive: boolean;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UUID_BEGINNING = /^[0-9a-f-]{1,36}$/;
/** Minor units up to 2^53-1, which has 16 digits. */
const INTEGER = /^\d{1,16}$/;
/** No currency has more than four decimals. */
const DECIMAL = /^\d{1,16}(?:\.\d{1,4})?$/;
const DAY = /^(\d{4})-(\d\d)-(\d\d)$/;
const INSTANT =
  /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])([01]\d|2[0-3]):?([0-5]\d))$/i;
/** Currencies are too many to be listed in a message. */
const CHOICES_SHOWN_MAX = 12;

/** The condition that a field has a value. Throws a ValueProblem when it cannot have it. */
export function equalTo(field: FieldName, text: string): SearchQuery {
  const { type, values }: Field = FIELDS[field];
  switch (type) {
    case 'text':
      return { op: 'equals', field, value: fold(text) };
    case 'uuid':
      if (!UUID.test(fold(text))) throw new ValueProblem('expects a uuid');
      return { op: 'equals', field, value: fold(text) };
    case 'choice':
      return { op: 'equals', field, value: choiceOf(values ?? [], text) };
    case 'integer':
    case 'decimal':
      return { op: 'equals', field, value: numberOf(type, text) };
    case 'instant':
      return within(field, { text, inclusive: true }, { text, inclusive: true });
  }
}

/** The condition that the value of a field begins with a text. Throws a ValueProblem when it cannot. */
export function startingWith(field: FieldName, text: string): SearchQuery {
  const { type, values }: Field = FIELDS[field];
  const value = fold(text);
  if (type === 'integer' || type === 'decimal' || type === 'instant') {
    throw new ValueProblem('does not support *: use a range, for example [1 TO 2]');
  }
  if (type === 'uuid' && !UUID_BEGINNING.test(value)) throw new ValueProblem('expects the first characters of a uuid');
  if (type === 'choice' && !values?.some((one) => fold(one).startsWith(value))) {
    throw new ValueProblem('has no value with this prefix');
  }
  return { op: 'prefix', field, value };
}

/** The condition that a number or an instant is in a range; `undefined` is an open end. Throws a ValueProblem. */
export function within(field: FieldName, from: End | undefined, to: End | undefined): SearchQuery {
  const { type }: Field = FIELDS[field];
  if (type !== 'integer' && type !== 'decimal' && type !== 'instant') {
    throw new ValueProblem('does not support ranges: only amounts and times do');
  }
  const [low, high] = [from && spanOf(type, from.text), to && spanOf(type, to.text)];
  if (low && high && low.first > high.last) throw new ValueProblem('has a range that ends before it begins');
  if (low === undefined && high === undefined) return { op: 'not', of: { op: 'absent', field } };
  return {
    op: 'range',
    field,
    ...(from && low && { from: boundOf(from, from.inclusive ? low.first : low.last) }),
    ...(to && high && { to: boundOf(to, to.inclusive ? high.last : high.first) }),
  };
}

const boundOf = ({ inclusive }: End, value: number): Bound => ({ value, inclusive });

function choiceOf(values: readonly string[], text: string): string {
  const value = fold(text);
  if (values.some((one) => fold(one) === value)) return value;
  const meant = text.length > 50 ? undefined : nearest(text, values);
  throw new ValueProblem(
    values.length > CHOICES_SHOWN_MAX ? 'cannot have this value' : `takes one of ${values.join(', ')}`,
    meant === undefined ? undefined : `did you mean \`${meant}\`?`,
  );
}

function numberOf(type: 'integer' | 'decimal', text: string): number {
  if (type === 'integer') {
    if (!INTEGER.test(text) || Number(text) > Number.MAX_SAFE_INTEGER) {
      throw new ValueProblem('takes a whole number of minor units (1250) or a range ([1000 TO *])');
    }
  } else if (!DECIMAL.test(text)) {
    throw new ValueProblem('takes a number of main units (12.50) or a range ([10 TO *])');
  }
  return Number(text);
}

/** The first and last value that a text stands for: a day has many milliseconds, everything else is one value. */
function spanOf(type: 'integer' | 'decimal' | 'instant', text: string): { first: number; last: number } {
  if (type !== 'instant') {
    const value = numberOf(type, text);
    return { first: value, last: value };
  }
  const day = dayOf(text);
  if (day !== undefined) return { first: day, last: day + DAY_MS - 1 };
  const instant = instantOf(text);
  if (instant === undefined) {
    throw new ValueProblem('takes a date (2026-01-15) or an instant with Z or an offset (2026-01-15T12:00:00Z)');
  }
  return { first: instant, last: instant };
}

/** The start of a day in UTC, epoch milliseconds; `undefined` for what is no date, 30 February included. */
function dayOf(text: string): number | undefined {
  const [, year, month, day] = DAY.exec(text) ?? [];
  if (year === undefined) return undefined;
  const start = Date.parse(`${year}-${month}-${day}T00:00:00Z`);
  // Date accepts 30 February as 2 March in some engines.
  return Number.isNaN(start) || new Date(start).getUTCDate() !== Number(day) ? undefined : start;
}

/** Epoch milliseconds of an ISO 8601 instant; digits beyond milliseconds are cut, as they are of stored instants. */
function instantOf(text: string): number | undefined {
  const [, date = '', hour, minute, second = '0', fraction = '', sign = '+', offset_hour = '0', offset_minute = '0'] =
    INSTANT.exec(text) ?? [];
  const day = dayOf(date);
  if (day === undefined) return undefined;
  const time = (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
  const offset = (Number(offset_hour) * 60 + Number(offset_minute)) * 60 * (sign === '-' ? -1 : 1);
  return day + (time - offset) * 1_000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
}
