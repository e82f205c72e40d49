import fc from 'fast-check';
import { SEARCH_FIELD_NAMES } from '../../../src/domain/query/fields';
import { QUERY_LIMITS, parseQuery } from '../../../src/domain/query/parse';
import { matches, type SearchRow } from '../../../src/domain/query/query';
import { property, same, type Property } from './parser';

/** A row as a query sees it; few values, so that conditions are met often. */
type Row = {
  status: string;
  amount?: number;
  merchant_order_id?: string;
  flags: string[];
  created: number;
  words: string[];
};

const DAY_MS = 86_400_000;
const DAYS = ['2026-01-14', '2026-01-15', '2026-01-16'] as const;
const REFERENCES = ['a-1', 'a-2', 'b 1', 'or', 'say "hi"', 'back\\slash', '1*'] as const;
const STATUSES = ['new', 'completed', 'error'] as const;
const FLAGS = ['is-test', 'has-refunds', 'is-refund'] as const;
const WORDS = ['tea', 'teapot', 'cup', 'not'] as const;
const startOf = (day: string) => Date.parse(`${day}T00:00:00Z`);

const row: fc.Arbitrary<Row> = fc.record(
  {
    status: fc.constantFrom(...STATUSES),
    amount: fc.nat({ max: 12 }),
    merchant_order_id: fc.constantFrom(...REFERENCES),
    flags: fc.subarray([...FLAGS]),
    created: fc.constantFrom(...DAYS).chain((day) => fc.constantFrom(0, 1, DAY_MS - 1).map((ms) => startOf(day) + ms)),
    words: fc.subarray([...WORDS]),
  },
  { requiredKeys: ['status', 'flags', 'created', 'words'] },
);

/** A query as text, and what it means. */
interface Meaning {
  text: string;
  /** Whether it is one term, which needs no parentheses. */
  is_term: boolean;
  prefixes: number;
  meets: (row: Row) => boolean;
}

const term = (text: string, meets: Meaning['meets'], prefixes = 0): Meaning => ({
  text,
  is_term: true,
  prefixes,
  meets,
});
const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;
const inAnyCase = (text: string) => fc.constantFrom(text, text.toUpperCase());

const bracket = fc.boolean();
const range = <T>(ends: fc.Arbitrary<T>) =>
  fc.tuple(fc.option(ends, { nil: undefined }), fc.option(ends, { nil: undefined }), bracket, bracket);
const isOrdered = <T extends number | string>([from, to]: [T | undefined, T | undefined, ...unknown[]]) =>
  from === undefined || to === undefined || from <= to;
type End = string | number | undefined;
const written = ([from, to, from_in, to_in]: [End, End, boolean, boolean]) =>
  `${from_in ? '[' : '{'}${String(from ?? '*')} TO ${String(to ?? '*')}${to_in ? ']' : '}'}`;

const terms: fc.Arbitrary<Meaning> = fc.oneof(
  fc.constant(term('*', () => true)),
  fc
    .constantFrom(...STATUSES)
    .chain((status) => inAnyCase(status).map((text) => term(`status:${text}`, (one) => one.status === status))),
  fc.constantFrom('c', 'com', 'n').map((start) => term(`status:${start}*`, (one) => one.status.startsWith(start), 1)),
  fc.nat({ max: 12 }).map((amount) => term(`amount:${amount}`, (one) => one.amount === amount)),
  range(fc.nat({ max: 12 }))
    .filter(isOrdered)
    .map(([from, to, from_in, to_in]) =>
      term(`amount:${written([from, to, from_in, to_in])}`, ({ amount }) => {
        if (amount === undefined) return false;
        const isAfter = from === undefined || (from_in ? amount >= from : amount > from);
        return isAfter && (to === undefined || (to_in ? amount <= to : amount < to));
      }),
    ),
  fc
    .constantFrom(...REFERENCES)
    .map((text) => term(`merchant_order_id:${quoted(text)}`, (one) => one.merchant_order_id === text)),
  fc
    .constantFrom('a', 'a-', 'o')
    .map((start) => term(`merchant_order_id:${start}*`, (one) => one.merchant_order_id?.startsWith(start) === true, 1)),
  fc.constant(term('merchant_order_id:', (one) => one.merchant_order_id === undefined)),
  fc.constant(term('amount:*', (one) => one.amount !== undefined)),
  fc.constantFrom(...FLAGS).map((flag) => term(`flags:${flag}`, (one) => one.flags.includes(flag))),
  fc
    .constantFrom(...DAYS)
    .map((day) => term(`created:${day}`, ({ created }) => created >= startOf(day) && created < startOf(day) + DAY_MS)),
  range(fc.constantFrom(...DAYS))
    .filter(isOrdered)
    .map(([from, to, from_in, to_in]) =>
      term(`created:${written([from, to, from_in, to_in])}`, ({ created }) => {
        // A day is all its milliseconds: without it means after its last one, or before its first.
        const isAfter = from === undefined || created >= startOf(from) + (from_in ? 0 : DAY_MS);
        return isAfter && (to === undefined || created < startOf(to) + (to_in ? DAY_MS : 0));
      }),
    ),
  fc.constantFrom(...WORDS).chain((word) =>
    // `NOT` in capitals is an operator.
    fc.constantFrom(word, `"${word.toUpperCase()}"`).map((text) => term(text, (one) => one.words.includes(word))),
  ),
  fc
    .constantFrom('te', 'tea', 'c')
    .map((start) => term(`${start}*`, (one) => one.words.some((word) => word.startsWith(start)), 1)),
  fc.constant(term('"cup, tea"', (one) => one.words.includes('cup') && one.words.includes('tea'))),
);

const space = fc.constantFrom(' ', '  ', '\n', '\t ');
const grouped = ({ text, is_term }: Meaning) => (is_term ? text : `(${text})`);
const sum = (of: Meaning[]) => of.reduce((total, one) => total + one.prefixes, 0);

const { query } = fc.letrec<{ query: Meaning }>((tie) => {
  const some = fc.array(tie('query'), { minLength: 2, maxLength: 3 });
  return {
    query: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      terms,
      fc.tuple(tie('query'), fc.constantFrom('NOT ', '-', 'NOT\n')).map(([of, not]): Meaning => ({
        ...of,
        text: `${not}${grouped(of)}`,
        is_term: false,
        meets: (one) => !of.meets(one),
      })),
      fc.tuple(some, space, fc.constantFrom('', 'AND ')).map(([of, gap, and]): Meaning => ({
        text: of.map(grouped).join(`${gap}${and}`),
        is_term: false,
        prefixes: sum(of),
        meets: (one) => of.every(({ meets }) => meets(one)),
      })),
      fc.tuple(some, space).map(([of, gap]): Meaning => ({
        text: of.map(grouped).join(`${gap}OR `),
        is_term: false,
        prefixes: sum(of),
        meets: (one) => of.some(({ meets }) => meets(one)),
      })),
      tie('query').map((of): Meaning => ({ ...of, text: `( ${of.text} )`, is_term: true })),
    ),
  };
});

/** Stands for a value that must not be in a message: no field, operator or choice is near it. */
const VALUE = 'zq7secret9';
const piece = fc.oneof(
  fc.constantFrom(...SEARCH_FIELD_NAMES, 'stauts', 'x').map((name) => ` ${name}:`),
  fc.constantFrom(VALUE, `"${VALUE}"`, `[${VALUE} TO ${VALUE}]`, `"${VALUE}`, `${VALUE}*`),
  fc.constantFrom('(', ')', '[', ']', '{', '}', '"', '\\', '*', '-', ' AND ', ' OR ', ' NOT ', ' TO ', '\n', ' '),
  fc.constantFrom(
    '2026-02-30',
    '2026-01-15T25:00:00Z',
    '9007199254740993',
    '1e9',
    '-1',
    '0',
    '12.345678',
    'eur',
    'ﬀ',
    'İ',
  ),
  fc.string({ unit: 'binary', maxLength: 3 }).map((text) => text.replaceAll(':', '')),
);
const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
);

export const QUERIES: Property[] = [
  property(
    'queries: a written query is read, and finds the rows that it means',
    fc.tuple(query, fc.array(row, { minLength: 1, maxLength: 4 })),
    ([{ text, prefixes, meets }, rows]) => {
      if (prefixes > QUERY_LIMITS.prefixes) return;
      const read = parseQuery(text);
      if ('problem' in read) throw new Error(`${text}: ${read.problem}`);
      for (const one of rows) {
        same(`${text} of ${fc.stringify(one)}`, matches(read.query, one as SearchRow), meets(one));
      }
    },
  ),
  property('queries: any text is read or refused in one line that repeats no value', anything, (text) => {
    const read = parseQuery(text);
    if (!('problem' in read)) return;
    if (read.problem === '' || /[\r\n]/.test(read.problem)) throw new Error(`${JSON.stringify(text)}: ${read.problem}`);
    // A field that is not known is named; its name ends with the colon.
    if (read.problem.includes(VALUE) && !/unknown field/.test(read.problem)) {
      throw new Error(`repeats a value: ${read.problem}`);
    }
  }),
  property('queries: a text that was read is read the same again', anything, (text) => {
    const read = parseQuery(text);
    if ('query' in read) same(text, parseQuery(`( ${text} )`), read);
  }),
];
