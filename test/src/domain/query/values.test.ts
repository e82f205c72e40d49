import type { FieldName } from '../../../../src/domain/query/fields';
import type { SearchQuery } from '../../../../src/domain/query/query';
import { ValueProblem, equalTo, startingWith, within } from '../../../../src/domain/query/values';

const DAY = Date.UTC(2026, 0, 15);
const LAST = DAY + 86_399_999;
const ID = '0190c000-0000-7000-8000-00000000aaaa';
const MINOR_UNITS = 'takes a whole number of minor units (1250) or a range ([1000 TO *])';
const MAIN_UNITS = 'takes a number of main units (12.50) or a range ([10 TO *])';
const NO_BEGINNING = 'does not support *: use a range, for example [1 TO 2]';
const STATUSES = 'takes one of new, processing, see-transactions, completed, cancelled, expired, error';
const TIME = 'takes a date (2026-01-15) or an instant with Z or an offset (2026-01-15T12:00:00Z)';

/** The problem of a value with its hint; `undefined` when it has none. */
function problemOf(read: () => SearchQuery): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (!(error instanceof ValueProblem)) throw error;
    return [error.message, ...(error.hint === undefined ? [] : [error.hint])].join(', ');
  }
}

test.each<[FieldName, string, string | undefined]>([
  ['status', 'COMPLETED', undefined],
  ['status', 'complete', `${STATUSES}, did you mean \`completed\`?`],
  ['status', 'nonsense', STATUSES],
  ['status', '', STATUSES],
  ['transaction.status', 'declined', undefined],
  ['currency', 'eur', undefined],
  ['currency', 'zz', 'cannot have this value'],
  ['currency', 'EUX', 'cannot have this value, did you mean `EUR`?'],
  ['id', '0190C000-0000-7000-8000-00000000AAAA', undefined],
  ['id', '0190c000', 'expects a uuid'],
  ['amount', '9007199254740991', undefined],
  ['amount', '9007199254740992', MINOR_UNITS],
  ['amount', '-5', MINOR_UNITS],
  ['amount', '12.50', MINOR_UNITS],
  ['amount', '', MINOR_UNITS],
  ['transaction.amount_with_decimals', '12.505', undefined],
  ['transaction.amount_with_decimals', '12,50', MAIN_UNITS],
  ['transaction.fee_amount', '1e3', MAIN_UNITS],
  ['created', '2024-02-29', undefined],
  ['created', '2026-02-29', TIME],
  ['created', '2026-13-01', TIME],
  ['created', '2026-01-15T24:00:00Z', TIME],
  ['created', '2026-01-15T12:00:00', TIME],
  ['created', '2026-02-30T12:00:00Z', TIME],
])('%s equal to %s: %s', (field, text, problem) => {
  expect(problemOf(() => equalTo(field, text))).toBe(problem);
});

test.each<[FieldName, string, string | undefined]>([
  ['status', 'COMP', undefined],
  ['status', 'z', 'has no value with this prefix'],
  ['id', '0190C', undefined],
  ['id', 'xyz', 'expects the first characters of a uuid'],
  ['amount', '1', NO_BEGINNING],
  ['transaction.amount', '1', NO_BEGINNING],
  ['transaction.fee_amount', '1.5', NO_BEGINNING],
  ['created', '2026-01', NO_BEGINNING],
])('%s beginning with %s: %s', (field, text, problem) => {
  expect(problemOf(() => startingWith(field, text))).toBe(problem);
});

const createdIn = (first: number, last: number): SearchQuery => ({
  op: 'range',
  field: 'created',
  from: { value: first, inclusive: true },
  to: { value: last, inclusive: true },
});

test.each<[string, () => SearchQuery, SearchQuery]>([
  [
    'a text',
    () => equalTo('merchant_order_id', 'Müller'),
    { op: 'equals', field: 'merchant_order_id', value: 'müller' },
  ],
  ['an id', () => equalTo('id', ID.toUpperCase()), { op: 'equals', field: 'id', value: ID }],
  ['a choice', () => equalTo('status', 'COMPLETED'), { op: 'equals', field: 'status', value: 'completed' }],
  ['an amount', () => equalTo('amount', '0012'), { op: 'equals', field: 'amount', value: 12 }],
  [
    'a decimal',
    () => equalTo('transaction.fee_amount', '12.50'),
    { op: 'equals', field: 'transaction.fee_amount', value: 12.5 },
  ],
  ['a day', () => equalTo('created', '2026-01-15'), createdIn(DAY, LAST)],
  [
    'an instant with seconds and an offset of half an hour',
    () => equalTo('created', '2026-01-15T05:30:07+05:30'),
    createdIn(DAY + 7_000, DAY + 7_000),
  ],
  [
    'an instant without an offset of minutes',
    () => equalTo('created', '2026-01-15T01:02Z'),
    createdIn(DAY + 3_720_000, DAY + 3_720_000),
  ],
  ['a beginning', () => startingWith('status', 'COMP'), { op: 'prefix', field: 'status', value: 'comp' }],
  ['any value', () => within('amount', undefined, undefined), { op: 'not', of: { op: 'absent', field: 'amount' } }],
  [
    'decimals from',
    () => within('transaction.fee_amount', { text: '1.5', inclusive: false }, undefined),
    { op: 'range', field: 'transaction.fee_amount', from: { value: 1.5, inclusive: false } },
  ],
  [
    'amounts up to',
    () => within('amount', undefined, { text: '5', inclusive: true }),
    { op: 'range', field: 'amount', to: { value: 5, inclusive: true } },
  ],
])('rules 20.5: %s is the condition', (_title, make, expected) => {
  expect(make()).toStrictEqual(expected);
});

describe('rules 20.5: a day is all of it in UTC, an instant is cut to the millisecond', () => {
  test.each([
    ['[2026-01-15 TO 2026-01-15]', DAY, LAST],
    ['{2026-01-15 TO *]', LAST, undefined],
    ['[* TO 2026-01-15}', undefined, DAY],
    ['[2026-01-15T12:00:00.1239Z TO 2026-01-15T14:00:00.5+02:00]', DAY + 43_200_123, DAY + 43_200_500],
    ['[2026-01-14T23:00-01:00 TO 2026-01-15]', DAY, LAST],
  ])('%s', (range, from, to) => {
    const [, opening, low, high, closing] = /^(.)(\S+) TO (\S+)(.)$/.exec(range)!;
    const end = (text: string, inclusive: boolean) => (text === '*' ? undefined : { text, inclusive });
    const query = within('created', end(low!, opening === '['), end(high!, closing === ']'));
    expect(query).toEqual({
      op: 'range',
      field: 'created',
      ...(from !== undefined && { from: { value: from, inclusive: opening === '[' } }),
      ...(to !== undefined && { to: { value: to, inclusive: closing === ']' } }),
    });
  });
});

it('rules 20.5: refuses a range that ends before it begins, and a range of texts', () => {
  const ends = (from: string, to: string) =>
    [
      { text: from, inclusive: false },
      { text: to, inclusive: true },
    ] as const;
  expect(problemOf(() => within('amount', ...ends('9', '1')))).toBe('has a range that ends before it begins');
  expect(problemOf(() => within('created', ...ends('2026-01-16', '2026-01-15')))).toBe(
    'has a range that ends before it begins',
  );
  expect(problemOf(() => within('amount', ...ends('5', '5')))).toBeUndefined();
  expect(problemOf(() => within('status', ...ends('a', 'b')))).toBe(
    'does not support ranges: only amounts and times do',
  );
});
