import type { WrongField } from '../errors';

/**
 * Checks of values that a workflow gets from outside. They are small: the workflow bundle has no zod. A check returns
 * the error, or undefined; the error never repeats the value.
 */
export type ShapeCheck<T> = ((value: unknown) => WrongField | undefined) & {
  /** Only for the compiler: the type that the check accepts. */
  readonly accepts?: T | undefined;
};

function expect<T>(expected: string, isRight: (value: unknown) => boolean): ShapeCheck<T> {
  const wrong = { path: '', text: `Expected ${expected}.` };
  return (value) => (isRight(value) ? undefined : wrong);
}

/** A value that the service does not read, such as the merchant's own JSON. */
export const anything: ShapeCheck<unknown> = () => undefined;

export const flag = expect<boolean>('true or false', (value) => typeof value === 'boolean');

/** Whether a text has at most so many characters: Unicode code points, as lengths of the OpenAPI document. */
export const hasAtMost = (value: string, characters: number): boolean =>
  value.length <= characters || (value.length <= 2 * characters && Array.from(value).length <= characters);

/** A text whose length, without spaces around it, is at least `length_min`. */
export const text = (length_max: number, length_min = 0) =>
  expect<string>(
    `a text of ${length_min} to ${length_max} characters`,
    (value) => typeof value === 'string' && hasAtMost(value, length_max) && value.trim().length >= length_min,
  );

export const uuidText = expect<string>(
  'a uuid',
  (value) => typeof value === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value),
);

/** A whole number; both ends are included. */
export const integer = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  expect<number>(
    `a whole number from ${min} to ${max}`,
    (value) => Number.isSafeInteger(value) && isWithin(value, min, max),
  );

/** A number, for instants and durations of the record, which may have fractions; both ends are included. */
export const number = (min: number, max: number) =>
  expect<number>(`a number from ${min} to ${max}`, (value) => typeof value === 'number' && isWithin(value, min, max));

// NaN is never within a range.
const isWithin = (value: unknown, min: number, max: number) => (value as number) >= min && (value as number) <= max;

export const oneOf = <const T>(values: readonly T[]) =>
  expect<T>(values.join(' or '), (value) => values.includes(value as T));

export const optional =
  <T>(check: ShapeCheck<T>): ShapeCheck<T | undefined> =>
  (value) =>
    value === undefined ? undefined : check(value);

export function listOf<T>(check: ShapeCheck<T>, length_max: number): ShapeCheck<T[]> {
  const wrong = { path: '', text: `Expected a list of at most ${length_max}.` };
  return (value) => {
    if (!Array.isArray(value) || value.length > length_max) return wrong;
    for (const [index, one] of value.entries()) {
      const found = check(one);
      if (found !== undefined) return within(String(index), found);
    }
    return undefined;
  };
}

/** An object with these fields. Other fields are accepted and ignored. */
export function object<T extends object>(fields: { [Field in keyof T]-?: ShapeCheck<T[Field]> }): ShapeCheck<T> {
  const wrong = { path: '', text: 'Expected an object.' };
  const checks = Object.entries<ShapeCheck<unknown>>(fields);
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return wrong;
    for (const [field, check] of checks) {
      const found = check((value as Record<string, unknown>)[field]);
      if (found !== undefined) return within(field, found);
    }
    return undefined;
  };
}

const within = (field: string, { path, text: problem }: WrongField): WrongField => ({
  path: path === '' ? field : `${field}.${path}`,
  text: problem,
});
