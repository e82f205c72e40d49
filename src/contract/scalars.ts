import { REASON_LENGTH_MAX } from '../domain/transaction';
import { z } from 'zod';
import { isCountry } from '../domain/country';
import { isCurrency } from '../domain/currency';
import { EXPECTED_DURATION, MAX_DURATION, durationProblem } from '../domain/duration';

/** Types of several fields, and limits of request contents (rules 18). */

const TEXT_LENGTH_MAX = { reference: 255, description: 4096, url: 4096 } as const;
/** Bytes of a free-form object (client, extra) as JSON, and of the list order_lines: a long basket. */
export const FREE_FORM_BYTES_MAX = 16 * 1024;
export const FREE_FORM_LIST_BYTES_MAX = 128 * 1024;

/** A text of one format. A value of another type gets the same error text as a text of another format. */
const formatted = (expected: string) =>
  z.string({ error: ({ input }) => (input === undefined || input === null ? undefined : expected) });

/** Minor units. */
export const amount = (minimum: 0 | 1 = 0) => {
  const text = `Expected a whole number of minor units without quotes, ${minimum} or more: 1250 is 12.50 EUR.`;
  // Without it, the field is required: the error map says so.
  return z
    .int({ error: ({ input }) => (input === undefined ? undefined : text) })
    .min(minimum, text)
    .meta({ examples: [2500] });
};

const CURRENCY = 'Expected three capital letters, for example EUR.';
export const currency = () =>
  formatted(CURRENCY)
    .regex(/^[A-Z]{3}$/, { error: CURRENCY, abort: true })
    .refine(isCurrency, 'Expected a currency of ISO 4217.')
    .meta({ examples: ['EUR'] });

/** UTC with microseconds and offset, as every answer writes it. */
export const timestampOutput = () =>
  z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/)
    .meta({ format: 'date-time', examples: ['2026-01-15T12:00:05.433502+00:00'] });

const INSTANT = 'Expected a date and time of ISO 8601 with Z or an offset, for example 2026-01-15T12:00:05Z.';

/** The first and last second that Postgres and ISO 8601 both know, in epoch milliseconds. */
const [FIRST_SECOND, LAST_SECOND] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59Z')];

/**
 * The instant in UTC, cut to microseconds; any other text as it is. The record holds no part of a microsecond, and
 * Postgres reads neither a long fraction, nor the year 0, nor an offset of 16 hours or more.
 */
function inUtc(text: string): string {
  const second = Date.parse(text.replace(/\.\d+/, ''));
  if (Number.isNaN(second)) return text;
  const known = Math.min(Math.max(second, FIRST_SECOND), LAST_SECOND);
  return new Date(known).toISOString().replace('.000', /\.\d{1,6}/.exec(text)?.[0] ?? '');
}

/**
 * An instant in a query: ISO 8601 with Z or an offset, whose `+` may have arrived as a space because the client did not
 * encode it. Read as UTC.
 */
export const instantParam = () =>
  z
    .string()
    .overwrite((text) => text.replace(' ', '+'))
    .refine((text) => instant().safeParse(text).success, INSTANT)
    .overwrite(inUtc)
    .meta({ format: 'date-time', examples: ['2026-01-15T12:00:05Z'] });

/** An instant in a body: ISO 8601 with Z or an offset. */
export const instant = () =>
  z.iso.datetime({ offset: true, error: INSTANT }).meta({ format: 'date-time', examples: ['2026-01-15T12:00:05Z'] });

/** The query of a list. Strict: a misspelt parameter must not list other objects than were meant (rules 1.6). */
export const createdPeriod = () =>
  z.strictObject({
    created_since: instantParam()
      .optional()
      .describe('Start of the period; by default 31 days before its end, or before now.'),
    created_until: instantParam().optional().describe('End of the period; by default 31 days after `created_since`.'),
  });

/**
 * A query parameter that may come several times, or once with commas; values that are not known are dropped as unknown
 * fields are.
 */
export const listParam = <const T extends string>(known: readonly T[]) =>
  z
    .custom<string | readonly string[]>()
    .transform((value) => known.filter((one) => [value].flat().some((text) => text.split(',').includes(one))))
    .optional()
    .meta({ type: 'array', items: { type: 'string', enum: known } });

/** How many objects an answer has, as a query parameter. */
export const limitParam = ({ default: usual, most }: { default: number; most: number }) =>
  z
    .custom<string>((text) => typeof text === 'string' && /^\d{1,4}$/.test(text), `Expected 1 to ${most}.`)
    .transform(Number)
    .refine((value) => value >= 1 && value <= most, `Expected 1 to ${most}.`)
    .default(usual)
    .meta({ type: 'integer', minimum: 1, maximum: most, default: usual });

/** ISO 8601, kept as it was sent; PT1S at least, no years or months, at most `longest`. `zero`: or PT0S. */
export const duration = (longest: string, zero?: 'PT0S') =>
  formatted(EXPECTED_DURATION)
    .max(TEXT_LENGTH_MAX.reference)
    .superRefine((text, context) => {
      const problem = text === zero ? undefined : durationProblem(text, longest);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem, input: text });
    })
    .meta({ format: 'duration', examples: [zero === undefined ? 'PT30M' : 'PT24H'] });

/** How long a replaced key or secret keeps working: a duration, or PT0S for not at all. */
export const overlap = () => duration(MAX_DURATION.overlap, 'PT0S');

/** A duration in an answer. */
export const durationOutput = () => z.string().meta({ format: 'duration', examples: ['PT30M'] });

export const idOutput = () => z.uuid();

/** A flag in a query. */
export const flagParam = () => z.enum(['true', 'false']).transform((text) => text === 'true');

/** An id in a request: any version of uuid, in lower case from here on, so that ids derived from it are the same. */
export const idInput = () => z.guid('Expected a uuid.').toLowerCase();

const URI = 'Expected an absolute http or https URL, for example https://example.com/return.';
/** Absolute http or https address, nothing else (rules 1.8); kept as it was sent. */
export const uri = () =>
  formatted(URI)
    // A longer one is not read at all: names of hosts are normalized.
    .max(TEXT_LENGTH_MAX.url, { abort: true })
    .superRefine((text, context) => {
      const problem = uriProblem(text);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem, input: text });
    })
    .meta({ format: 'uri', examples: ['https://example.com/return'] });

/** With escapes, as it stands in a header or request line: proxies often take 16 KiB of headers. */
const ENCODED_URL_MAX = 8_192;

function uriProblem(text: string): string | undefined {
  // The pattern comes first because URL accepts `http:example.com` and drops line breaks.
  if (!/^https?:\/\/[^\s\\]+$/i.test(text) || !URL.canParse(text)) return URI;
  const { href, username, password } = new URL(text);
  if (href.length > ENCODED_URL_MAX) return `Expected at most ${ENCODED_URL_MAX} characters in percent-encoding.`;
  try {
    decodeURIComponent(`${username}:${password}`);
    return undefined;
  } catch {
    return 'Expected the user name and password in percent-encoding.';
  }
}

const COUNTRY = 'Expected two capital letters of ISO 3166-1, for example NL.';
export const country = () =>
  formatted(COUNTRY)
    .refine(isCountry, COUNTRY)
    .meta({ pattern: '^[A-Z]{2}$', examples: ['NL'] });

/** References, names and other short texts. */
export const reference = () => z.string().max(TEXT_LENGTH_MAX.reference);
export const description = () => z.string().max(TEXT_LENGTH_MAX.description);
/** Why an operator does something, for the audit trail: not empty. */
export const operatorReason = () => z.string().regex(/\S/, 'Expected text that is not empty.').max(REASON_LENGTH_MAX);
export const requiredDescription = () =>
  description()
    .regex(/\S/, 'Expected text that is not empty.')
    .meta({ examples: ['First parcel'] });

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The merchant's own data, which comes back exactly as sent. Taken by reference, not copied key by key, so that no key
 * (`__proto__` included) gets lost.
 */
export const freeFormObject = () =>
  z
    .custom<Record<string, unknown>>(isObject, { error: 'Expected an object.', abort: true })
    .superRefine(freeFormOf(FREE_FORM_BYTES_MAX))
    .meta({ type: 'object', additionalProperties: true });

export const freeFormList = () =>
  z
    .custom<Record<string, unknown>[]>((value) => Array.isArray(value) && value.every(isObject), {
      error: 'Expected a list of objects.',
      abort: true,
    })
    .superRefine(freeFormOf(FREE_FORM_LIST_BYTES_MAX))
    .meta({ type: 'array', items: { type: 'object', additionalProperties: true } });

function freeFormOf(bytes_max: number) {
  return (value: unknown, context: z.RefinementCtx): void => {
    if (Buffer.byteLength(JSON.stringify(value)) <= bytes_max) return;
    context.addIssue({ code: 'custom', message: `Expected at most ${bytes_max / 1024} KiB of JSON.`, input: value });
  };
}
