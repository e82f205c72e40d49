import { z } from 'zod';
import { issueText, wrongFieldsOf } from '../../../src/contract/error';

/** `path: text` of every wrong field. */
function wrong(schema: z.ZodType, value: unknown): string[] {
  const parsed = schema.safeParse(value, { error: issueText });
  return parsed.success ? [] : wrongFieldsOf(parsed.error).map(({ path, text }) => `${path}: ${text}`);
}

test.each<[string, z.ZodType, unknown, string]>([
  ['a field that is missing', z.string(), undefined, 'This field is required.'],
  ['a missing choice', z.enum(['manual', 'delayed']), undefined, 'This field is required.'],
  ['null', z.string(), null, 'Null is not accepted: leave the field out.'],
  ['another type than text', z.string(), 1, 'Expected text.'],
  ['another type than a number', z.number(), 'x', 'Expected a number.'],
  ['a fraction', z.int(), 1.5, 'Expected a whole number.'],
  ['another type than a boolean', z.boolean(), 1, 'Expected true or false.'],
  ['another type than an object', z.object({}), [], 'Expected an object.'],
  ['another type than a map', z.record(z.string(), z.string()), 1, 'Expected an object.'],
  ['another type than a list', z.array(z.string()), {}, 'Expected a list.'],
  ['another type of any other kind', z.date(), 'x', 'Expected another kind of value.'],
  ['no choice of several', z.enum(['manual', 'delayed']), 'later', 'Expected one of manual, delayed.'],
  ['another text than the only one', z.literal('status_changed'), 'x', 'Expected status_changed.'],
  ['a text that is too long', z.string().max(255), 'x'.repeat(256), 'Expected at most 255 characters.'],
  ['an empty text', z.string().min(1), '', 'Expected at least 1 character.'],
  ['a list that is too long', z.array(z.string()).max(1), ['a', 'b'], 'Expected at most 1 element.'],
  ['a list that is too short', z.array(z.string()).min(2), ['a'], 'Expected at least 2 elements.'],
  ['a number that is too large', z.int().max(1_000), 1_001, 'Expected at most 1000.'],
  ['a number that is too small', z.int().min(1), 0, 'Expected at least 1.'],
  ['a number at an open end', z.number().lt(1), 1, 'Expected less than 1.'],
  ['a number at an open beginning', z.number().gt(0), 0, 'Expected more than 0.'],
  ['no multiple', z.number().multipleOf(5), 7, 'Expected a multiple of 5.'],
  ['no uuid', z.uuid(), 'x', 'Expected a uuid.'],
  ['no URL', z.url(), 'x', 'Expected a URL.'],
  ['no e-mail address', z.email(), 'x', 'Expected an e-mail address.'],
  ['no instant', z.iso.datetime(), 'x', 'Expected a date and time of ISO 8601.'],
  ['no date', z.iso.date(), 'x', 'Expected a date of ISO 8601.'],
  ['a text of no other format', z.string().regex(/^a$/), 'b', 'Expected another format.'],
  ['none of several types', z.union([z.string(), z.number()]), true, 'Expected another kind of value.'],
  ['a name of another format', z.record(z.string().max(1), z.string()), { bb: 'x' }, 'Expected other names in it.'],
  ['an element of a map', z.map(z.date(), z.string()), new Map([[new Date(), 1]]), 'Expected another kind of value.'],
  ['what a check refuses without a reason', z.string().refine(() => false), 'x', 'Expected another kind of value.'],
  ['what a check refuses with one', z.string().refine(() => false, 'Expected NL.'), 'x', 'Expected NL.'],
])('rules 3.8: %s', (_title, schema, value, text) => {
  expect(wrong(z.object({ a: schema }), { a: value }).map((one) => one.replace(/^a[^:]*: /, ''))).toEqual([text]);
});

test('every wrong field is named once, with its path', () => {
  const schema = z.strictObject({ a: z.array(z.object({ b: z.string() })), c: z.int() });
  expect(wrong(schema, { a: [{ b: 'x' }, { b: 1 }, 2], d: 1, e: 2 })).toEqual([
    'a.1.b: Expected text.',
    'a.2: Expected an object.',
    'c: This field is required.',
    'd: This parameter is not known.',
    'e: This parameter is not known.',
  ]);
});
