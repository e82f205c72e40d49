import { z } from 'zod';

/** A field of a request as an option: `webhook_url` is `--webhook-url`. */
export interface FieldOption {
  readonly field: string;
  readonly flag: string;
  readonly type: 'text' | 'true|false' | 'list' | 'number';
  readonly description: string;
}

interface FieldSchema {
  type?: string;
  description?: string;
  enum?: string[];
  anyOf?: FieldSchema[];
  items?: FieldSchema;
}

/** The options of the fields of a body or query. */
export function optionsOf(schema: z.ZodObject | undefined): FieldOption[] {
  if (schema === undefined) return [];
  const { properties = {}, required: needed = [] } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return Object.entries(properties as Record<string, FieldSchema>).map(([field, { anyOf, ...own }]) => {
    const { type, description = '', enum: values, items } = { ...anyOf?.[0], ...own };
    const words = [
      description,
      values && `One of ${values.join(', ')}.`,
      items && 'With commas.',
      anyOf && '"null" clears it.',
      needed.includes(field) && '(required)',
    ];
    return {
      field,
      flag: field.replaceAll('_', '-'),
      type: type === 'boolean' ? 'true|false' : type === 'array' ? 'list' : type === 'integer' ? 'number' : 'text',
      description: words.filter(Boolean).join(' '),
    };
  });
}

/** Options as the fields of a request; the schema checks them. */
export function fieldsGiven(options: readonly FieldOption[], given: Record<string, string>): Record<string, unknown> {
  const entries = options.flatMap(({ field, flag, type }) => {
    const name = flag.replace(/-(\w)/g, (_match, letter: string) => letter.toUpperCase());
    const text = given[name];
    return text === undefined ? [] : [[field, valueOf(type, text)] as const];
  });
  return Object.fromEntries(entries);
}

function valueOf(type: FieldOption['type'], text: string): unknown {
  if (text === 'null') return null;
  if (type === 'list') return text.split(',').map((part) => part.trim());
  if (type === 'true|false' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
