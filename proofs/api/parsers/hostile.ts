import { parseJson } from '../../../src/contract/json';
import { orderRequestSchema } from '../../../src/contract/order';
import { parseRequest } from '../../../src/contract/request';
import { uri } from '../../../src/contract/scalars';
import { durationProblem } from '../../../src/domain/duration';
import { parseQuery, QUERY_LIMITS } from '../../../src/domain/query/parse';
import { fold } from '../../../src/domain/query/text';

/** A parser and texts that are meant to keep it busy; `make` returns one of so many characters. */
interface Hostile {
  name: string;
  /** Characters of the longest text that reaches the parser. */
  most: number;
  parse: (text: string) => unknown;
  make: (length: number) => string;
}

const BODY = 256 * 1024;

const repeated =
  (unit: string, before = '', after = '') =>
  (length: number) =>
    before + unit.repeat(Math.max(1, Math.floor((length - before.length - after.length) / unit.length))) + after;

/** A body, as a route reads it. */
const asBody = (text: string) => {
  try {
    return parseRequest({ body: orderRequestSchema }, { params: {}, query: {}, body: parseJson(text) });
  } catch (error) {
    return error;
  }
};
/** A body with the text in a field. */
const inBody = (text: string) => asBody(JSON.stringify({ currency: 'EUR', amount: 1, extra: { text } }));
const asJson = (text: string) => {
  try {
    return parseJson(text);
  } catch (error) {
    return error;
  }
};

/** A body of a long key, and under it as many arrays as there is room for. */
const arraysUnderLongKey = (length: number) => repeated('[],', `{"${'k'.repeat(length / 2)}":[`, '0]}')(length);

/** Combining marks in the order in which to normalize them takes the longest. */
const marks =
  (before: string, after = '') =>
  (length: number) =>
    `${before}${'\u0300'.repeat(length / 2)}${'\u0316'.repeat(length / 2)}${after}`;

const DURATION_TEXTS = ['1', '0', '1D', 'T', 'W', 'M', ' ', '.', '1H1M', '١'];
const QUERY_TEXTS = [
  '(',
  ')',
  '-',
  '"',
  '\\"',
  '* ',
  'a ',
  'id:',
  'NOT ',
  'a OR ',
  '[',
  'amount:[1 TO 2] ',
  '\\',
  ' ',
  'a:b ',
  'ﬀ',
];
const JSON_TEXTS = ['[', '"', '\\"', '1', '0', '1.0,', '1e400,', '"\\\\"', '{"a":', '-', '12345678901234567,', ' '];
const BODY_TEXTS = [
  '4111 ',
  '4111-1111-1111-',
  '0',
  '1 ',
  '1,',
  '%34',
  '%2534',
  '&#52;',
  '&nbsp;',
  '<b>4</b>',
  '4\u200b',
  '①',
  '12/30 ',
  'ab-',
  '٤',
  '4111 1111 1111 111 ',
];

export const HOSTILE: Hostile[] = [
  ...DURATION_TEXTS.flatMap((unit) => [
    {
      name: `duration of ${unit}`,
      most: BODY,
      parse: (text: string) => durationProblem(text, 'P30D'),
      make: repeated(unit, 'P'),
    },
    {
      name: `duration PT of ${unit} and D`,
      most: BODY,
      parse: (text: string) => durationProblem(text, 'P30D'),
      make: repeated(unit, 'PT', 'D'),
    },
  ]),
  ...QUERY_TEXTS.flatMap((unit) => [
    { name: `query of ${unit}`, most: QUERY_LIMITS.characters, parse: parseQuery, make: repeated(unit) },
    {
      name: `query of ${unit} in quotes`,
      most: QUERY_LIMITS.characters,
      parse: parseQuery,
      make: repeated(unit, 'description:"'),
    },
  ]),
  ...JSON_TEXTS.flatMap((unit) => [
    { name: `JSON of ${unit}`, most: BODY, parse: asJson, make: repeated(unit) },
    { name: `JSON of ${unit} in a list`, most: BODY, parse: asJson, make: repeated(unit, '[1e400,', '0]') },
    {
      name: `JSON of ${unit} in a text`,
      most: BODY,
      parse: asJson,
      make: repeated(unit.replace(/["\\]/g, '\\$&'), '[1e400,"', '"]'),
    },
  ]),
  { name: 'empty arrays under a long key', most: BODY, parse: asBody, make: arraysUnderLongKey },
  { name: 'combining marks in a body', most: BODY / 2, parse: inBody, make: marks('123456') },
  {
    name: 'combining marks in an address',
    most: BODY / 2,
    parse: (text: string) => uri().safeParse(text),
    make: marks('https://a', '/'),
  },
  { name: 'combining marks that are compared', most: QUERY_LIMITS.characters, parse: fold, make: marks('a') },
  ...BODY_TEXTS.map((unit) => ({
    name: `text of ${unit} in a body`,
    most: 15 * 1024,
    parse: inBody,
    make: repeated(unit),
  })),
];

/** How much more CPU time the longest text may take than one of an eighth: linear is 8 times, quadratic 64 times. */
const GROWTH_MAX = 24;
/** Below this, a parser is fast enough whatever its growth. CPU milliseconds. */
const NEGLIGIBLE_MS = 20;
const ROUNDS = 7;

/** The texts for which a parser takes more than linear time, in words. The least CPU time of several rounds counts. */
export function slowParsers(): string[] {
  return HOSTILE.flatMap(({ name, most, parse, make }) => {
    const [eighth, whole] = [make(most / 8), make(most)].map((text) => leastTime(() => parse(text))) as [
      number,
      number,
    ];
    return whole <= NEGLIGIBLE_MS || whole <= eighth * GROWTH_MAX
      ? []
      : [`${name}: ${whole.toFixed(1)} ms for ${most} characters, ${eighth.toFixed(1)} ms for an eighth`];
  });
}

/** CPU milliseconds. */
function leastTime(work: () => void): number {
  let least = Infinity;
  for (let round = 0; round < ROUNDS && least > 1; round += 1) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}
