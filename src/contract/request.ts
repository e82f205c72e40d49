import type { z } from 'zod';
import { CARD_DIGITS_MIN, isCardNumber } from '../domain/card';
import { ServiceError, invalid } from '../errors';
import type { Input, Route } from './routes';

/** Levels of objects and arrays in a body. */
export const DEPTH_MAX = 20;
/** Characters of a path in an error: keys are the sender's and may be long. */
const PATH_LENGTH_MAX = 255;

/** The one field that may hold a card number; the API swaps it for a token before anything stores it (rules 15.1). */
const MAY_BE_CARD_NUMBER = /^transactions\.\d+\.payment_method_details\.receiver_account_number$/;
/** Where a number of 12 or 13 digits is a card's; elsewhere it is that of an article or a phone. */
const OF_A_CARD = /(^|\.)payment_method_details(\.|$)/;

/** The parts of a request, as they came. */
export interface RawRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/**
 * The parts of a request that the operation declares, parsed; fields it does not declare are dropped.
 * Throws a ValidationError that names the first bad field and never repeats its value.
 */
export function parseRequest<R extends Route>(route: R, raw: RawRequest): Input<R> {
  const parts: { params?: unknown; query?: unknown; body?: unknown } = {};
  if (route.params) parts.params = parsePart(route.params, raw.params);
  // Dropped fields are checked too: a client that sends card numbers has to learn that it must not.
  refuseUnkeepable(raw.query, '', 1);
  if (route.query) parts.query = parsePart(route.query, unnumbered(raw.query));
  if (route.body) {
    refuseUnkeepable(raw.body, '', 1);
    parts.body = parsePart(route.body, emptyObjects(raw.body));
  }
  return parts as Input<R>;
}

/** Fields that are objects, of an order and of its transactions. */
const OBJECT_FIELDS = ['customer', 'client', 'extra', 'payment_method_details'];

/** PHP writes an empty object as an empty array: as the body, and in fields that are objects, it is read as one. */
function emptyObjects(body: unknown): unknown {
  if (Array.isArray(body) && body.length === 0) return {};
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const entries = Object.entries(body).map(([field, value]): [string, unknown] => {
    if (field === 'transactions' && Array.isArray(value)) return [field, value.map(emptyObjects)];
    return [field, OBJECT_FIELDS.includes(field) && Array.isArray(value) && value.length === 0 ? {} : value];
  });
  return Object.fromEntries(entries);
}

/** PHP numbers the values of a list: `fields[0]=a&fields[1]=b` is read as `fields[]`. */
function unnumbered(query: unknown): unknown {
  const read = { ...(query as Record<string, unknown>) };
  for (const [name, value] of Object.entries(read)) {
    const list = name.replace(/\[\d+\]$/, '[]');
    if (list !== name) read[list] = [read[list] ?? [], value].flat();
  }
  return read;
}

function parsePart(schema: z.ZodType, raw: unknown): unknown {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw fromIssue(parsed.error.issues[0], raw);
}

/** zod's messages name types and limits, never the value. */
function fromIssue(issue: z.core.$ZodIssue | undefined, raw: unknown): ServiceError {
  const keys = issue?.path ?? [];
  const missing = keys.length > 0 && valueAt(raw, keys) === undefined;
  return invalidAt(keys.join('.'), missing ? 'This field is required.' : (issue?.message ?? 'Invalid input.'));
}

function invalidAt(path: string, text: string): ServiceError {
  return path === '' ? new ServiceError('ValidationError', text) : invalid(path.slice(0, PATH_LENGTH_MAX), text);
}

function valueAt(raw: unknown, keys: readonly PropertyKey[]): unknown {
  return keys.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    raw,
  );
}

/** Refuses card numbers, and text that Postgres cannot store and return as sent. */
function refuseUnkeepable(value: unknown, path: string, depth: number): void {
  if (typeof value === 'string') {
    const problem = MAY_BE_CARD_NUMBER.test(path) ? unstorable(value) : textProblem(value, path);
    if (problem !== undefined) throw invalidAt(path, problem);
  } else if (typeof value === 'number') {
    if (isCardNumber(String(Math.abs(value)), digitsMin(path))) throw invalidAt(path, CARD_NUMBER);
  } else if (typeof value === 'object' && value !== null) {
    if (depth > DEPTH_MAX) throw invalidAt(path, `Nested deeper than ${DEPTH_MAX} levels.`);
    for (const [key, inner] of Object.entries(value)) {
      const problem = textProblem(key, path);
      // The key itself must not show up in the path.
      if (problem !== undefined) throw invalidAt(path, `A key in it is refused. ${problem}`);
      refuseUnkeepable(inner, path === '' ? key : `${path}.${key}`, depth + 1);
    }
  }
}

const CARD_NUMBER = 'A card number is never accepted here: the customer enters it on the hosted page.';

const digitsMin = (path: string) => (OF_A_CARD.test(path) ? CARD_DIGITS_MIN.ever : CARD_DIGITS_MIN.issued);

function textProblem(text: string, path: string): string | undefined {
  return isCardNumber(text, digitsMin(path)) ? CARD_NUMBER : unstorable(text);
}

/** Texts of Postgres hold neither U+0000 nor halves of surrogate pairs. */
function unstorable(text: string): string | undefined {
  // oxlint-disable-next-line no-control-regex
  return /[\u0000\p{Surrogate}]/u.test(text)
    ? 'The characters U+0000 and unpaired surrogates are not accepted.'
    : undefined;
}

/** The header Idempotency-Key: 1 to 255 visible ASCII characters (rules 11.1). Throws a ValidationError. */
export function parseIdempotencyKey(header: string): string {
  if (!/^[\x21-\x7e]{1,255}$/.test(header)) {
    throw invalid('Idempotency-Key', 'Expected 1 to 255 visible ASCII characters.');
  }
  if (isCardNumber(header, CARD_DIGITS_MIN.issued)) throw invalid('Idempotency-Key', CARD_NUMBER);
  return header;
}
