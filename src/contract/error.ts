import { z } from 'zod';
import { ERRORS, errorTypeOf, type ErrorName, type WrongField } from '../errors';
import { InexactNumber } from './json';

/** Every type of error on the wire. */
export const ERROR_TYPES = [...new Set((Object.keys(ERRORS) as ErrorName[]).map(errorTypeOf))];

/** Body of every error: the only answer with a top-level `error` (rules 3.1). */
export const errorSchema = z.strictObject({
  error: z.strictObject({
    status: z.int().describe('HTTP status code.'),
    type: z.string().meta({ enum: ERROR_TYPES }).describe('Error type.'),
    value: z.string().describe('Short explanation.'),
    property_path: z
      .string()
      .optional()
      .describe('The first wrong field, for example `transactions.0.payment_method`.'),
    property_description: z.string().optional().describe('The reason why it is refused.'),
    details: z
      .array(z.strictObject({ path: z.string(), text: z.string() }))
      .optional()
      .describe('All wrong fields, the first included.'),
  }),
});
export type ErrorAnswer = z.infer<typeof errorSchema>;

/** The wrong fields of a value that a schema refuses, in the order of the schema. */
export function wrongFieldsOf({ issues }: z.ZodError): WrongField[] {
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [{ path: issue.path.join('.'), text: issue.message }];
    return issue.keys.map((key) => ({ path: [...issue.path, key].join('.'), text: issue.message }));
  });
}

/** zod's error map: the error in words for the merchant. A message of the schema itself takes precedence. */
export function issueText(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'This field is required.';
  if (issue.input === null) return 'Null is not accepted: leave the field out.';
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input instanceof InexactNumber && issue.expected !== 'string') return 'Expected at most 15 digits.';
      return `Expected ${TYPES[issue.expected] ?? 'another kind of value'}.`;
    case 'invalid_value':
      return `Expected ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}.`;
    case 'too_big':
      return `Expected ${issue.inclusive === false ? 'less than ' : 'at most '}${counted(issue.maximum, issue.origin)}.`;
    case 'too_small':
      return `Expected ${issue.inclusive === false ? 'more than ' : 'at least '}${counted(issue.minimum, issue.origin)}.`;
    case 'not_multiple_of':
      return `Expected a multiple of ${issue.divisor}.`;
    case 'unrecognized_keys':
      return 'This parameter is not known.';
    case 'invalid_format':
      return `Expected ${FORMATS[issue.format] ?? 'another format'}.`;
    case 'invalid_key':
      return 'Expected other names in it.';
    case 'invalid_union':
    case 'invalid_element':
    case 'custom':
      return 'Expected another kind of value.';
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a uuid',
  guid: 'a uuid',
  url: 'a URL',
  email: 'an e-mail address',
  datetime: 'a date and time of ISO 8601',
  date: 'a date of ISO 8601',
};

/** A limit with what it counts: `255 characters`. */
function counted(limit: number | bigint, origin: string): string {
  const unit = { string: 'character', array: 'element', set: 'element', map: 'element', file: 'byte' }[origin];
  return unit === undefined ? String(limit) : `${limit} ${unit}${Number(limit) === 1 ? '' : 's'}`;
}
