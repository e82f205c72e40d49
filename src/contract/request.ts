import type { z } from 'zod';
import { holdsCardNumber, isCardNumberInGroups } from '../domain/card';
import { ServiceError, validationError, refuseFields, type WrongField } from '../errors';
import { issueText, wrongFieldsOf } from './error';
import { InexactNumber } from './json';
import type { Input, RequestParts } from './routes';

/** Levels of objects and arrays in a body. */
export const DEPTH_MAX = 20;
/** Wrong fields that are reported of one request. */
export const WRONG_FIELDS_MAX = 100;
/** Characters of a path in an error: keys are the sender's and may be long. */
const PATH_LENGTH_MAX = 255;

/** The one field that may hold a card number; the API swaps it for a token before anything stores it (rules 15.1). */
const MAY_BE_CARD_NUMBER = /^transactions\.\d+\.payment_method_details\.receiver_account_number$/;

const CARD_NUMBER = 'A card number is never accepted here: the customer enters it on the hosted page.';
const INEXACT_NUMBER = 'This number would come back changed: send it as text.';

const WHOLE: Place = { path: '', depth: 0, in_card_details: false };

/** The parts of a request, as they came; the body as parseJson reads it. */
export interface RawRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/**
 * The parts of a request that the operation declares, parsed; fields it does not declare are dropped.
 * Throws a ValidationError that names every wrong field and never repeats a value.
 */
export function parseRequest<R extends RequestParts>(route: R, { params, query, body }: RawRequest): Input<R> {
  const found = new WrongFields();
  // Dropped fields are checked too: a client that sends card numbers has to learn that it must not.
  for (const part of [params, query, route.body && body]) checkValues(part, WHOLE, found);
  // The rest was not looked at: it may be nested too deep for what follows.
  if (found.isFull()) found.refuse();
  const parts = {
    ...(route.params && { params: parsePart(route.params, params, found) }),
    ...(route.query && { query: parsePart(route.query, mergeNumberedLists(query), found) }),
    ...(route.body && { body: parsePart(route.body, emptyListsAsObjects(body), found) }),
  };
  found.refuse();
  return parts as Input<R>;
}

/** Wrong fields of a request, one text for each path. */
class WrongFields {
  private readonly texts = new Map<string, string>();

  add({ path, text }: WrongField): void {
    const shown = path.slice(0, PATH_LENGTH_MAX);
    const known = this.texts.get(shown);
    // Where the schema expects a number, its own text takes the place of the advice to send a text.
    if (known === INEXACT_NUMBER || (known === undefined && !this.isFull())) this.texts.set(shown, text);
  }

  isFull(): boolean {
    return this.texts.size >= WRONG_FIELDS_MAX;
  }

  /** Throws a ValidationError when there are any. */
  refuse(): void {
    // An error of the whole body has no path.
    const whole = this.texts.get('');
    this.texts.delete('');
    const fields = Array.from(this.texts, ([path, text]) => ({ path, text })).toSorted(
      (one, other) => Number(other.text === CARD_NUMBER) - Number(one.text === CARD_NUMBER),
    );
    if (whole !== undefined) throw new ServiceError('ValidationError', whole, fields);
    refuseFields('ValidationError', fields);
  }
}

function parsePart(schema: z.ZodType, raw: unknown, found: WrongFields): unknown {
  const parsed = schema.safeParse(raw, { error: issueText });
  if (parsed.success) return parsed.data;
  for (const wrong of wrongFieldsOf(parsed.error)) {
    if (found.isFull()) break;
    // A field name that is refused itself was reported before and must not be repeated.
    const { path } = wrong;
    const place = { path, depth: 0, in_card_details: path.includes('payment_method_details.') };
    if (textProblem(path, place) === undefined) found.add(wrong);
  }
  return undefined;
}

/** Fields that are objects, of an order and of its transactions. */
const OBJECT_FIELDS = ['customer', 'client', 'extra', 'payment_method_details'];

/** PHP writes an empty object as an empty array: as the body, and in fields that are objects, it is read as one. */
function emptyListsAsObjects(body: unknown): unknown {
  if (Array.isArray(body) && body.length === 0) return {};
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const entries = Object.entries(body).map(([field, value]): [string, unknown] => {
    if (field === 'transactions' && Array.isArray(value)) return [field, value.map(emptyListsAsObjects)];
    return [field, OBJECT_FIELDS.includes(field) && Array.isArray(value) && value.length === 0 ? {} : value];
  });
  return Object.fromEntries(entries);
}

/** PHP numbers the values of a list: `fields[0]=a&fields[1]=b` is read as `fields[]`. */
function mergeNumberedLists(query: unknown): unknown {
  const merged = new Map<string, unknown>();
  for (const [name, value] of Object.entries(query ?? {})) {
    const list = name.replace(/\[\d+\]$/, '[]');
    merged.set(list, merged.has(list) ? [merged.get(list), value].flat() : value);
  }
  return Object.fromEntries(merged);
}

/** Lists whose values the schemas read one by one, and report one by one, before they count them. */
const LISTS = /^(?:transactions|payment_methods|currencies|customer\.phone_numbers)$/;
/** More than any of them may have. */
const LIST_LENGTH_MAX = 1_000;

/** Where a value stands in a part of the request. */
interface Place {
  readonly path: string;
  /** Objects and arrays around it. */
  readonly depth: number;
  /** Where numbers of 12 and 13 digits are a card's too (rules 15.2). */
  readonly in_card_details: boolean;
}

/**
 * Finds card numbers, numbers that would change, and text that Postgres cannot store and return as sent. Throws a
 * ValidationError for a value that is nested too deep.
 */
function checkValues(value: unknown, place: Place, found: WrongFields): void {
  if (found.isFull()) return;
  const { path, depth } = place;
  if (typeof value === 'string') {
    const problem = textProblem(value, place);
    const text = problem === CARD_NUMBER && MAY_BE_CARD_NUMBER.test(path) ? unstorable(value) : problem;
    if (text !== undefined) found.add({ path, text });
  } else if (typeof value === 'number') {
    // In its own digits: a fraction is no card number, and neither is a number of more digits.
    if (
      Math.abs(value) >= 1e11 &&
      Math.abs(value) < 1e19 &&
      holdsCardNumber(Math.trunc(Math.abs(value)).toString(), place)
    ) {
      found.add({ path, text: CARD_NUMBER });
    }
  } else if (value instanceof InexactNumber) {
    found.add({ path, text: holdsCardNumber(value.source, place) ? CARD_NUMBER : INEXACT_NUMBER });
  } else if (typeof value === 'object' && value !== null) {
    if (depth >= DEPTH_MAX) {
      throw validationError(path.slice(0, PATH_LENGTH_MAX), `Nested deeper than ${DEPTH_MAX} levels.`);
    }
    // The length first: the path is long where the keys are, and matching it takes as long.
    if (Array.isArray(value) && value.length > LIST_LENGTH_MAX && LISTS.test(path)) {
      throw validationError(path, `Expected at most ${LIST_LENGTH_MAX} values.`);
    }
    if (Array.isArray(value) && isCardNumberInGroups(value, place)) found.add({ path, text: CARD_NUMBER });
    for (const [key, inner] of Object.entries(value)) {
      const text = textProblem(key, place);
      // The name itself must not show up in the path.
      if (text !== undefined) found.add({ path, text: `A name in it is refused. ${text}` });
      else checkValues(inner, placeWithin(place, key), found);
    }
  }
}

function placeWithin({ path, depth, in_card_details }: Place, key: string): Place {
  return {
    path: path === '' ? key : `${path}.${key}`,
    depth: depth + 1,
    in_card_details: in_card_details || key === 'payment_method_details',
  };
}

function textProblem(text: string, place: Place): string | undefined {
  return holdsCardNumber(text, place) ? CARD_NUMBER : unstorable(text);
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
    throw validationError('Idempotency-Key', 'Expected 1 to 255 visible ASCII characters.');
  }
  if (holdsCardNumber(header)) throw validationError('Idempotency-Key', CARD_NUMBER);
  return header;
}
