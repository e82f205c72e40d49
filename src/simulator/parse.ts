import type { z } from 'zod';
import { Refusal } from './refusal';

/** The value as the schema has it. Refuses the first bad field; zod's texts never repeat a value, so no card number gets into an answer. */
export function parse<T extends z.ZodType>(
  schema: T,
  value: unknown,
  statusOf: (field: string) => number = () => 400,
): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.join('.') ?? '';
  throw new Refusal(statusOf(field), issue?.message ?? 'The request is malformed.', field === '' ? undefined : field);
}
