import fc from 'fast-check';

/** A statement about a parser that holds for every generated value: it throws when it does not. */
export interface Property {
  /** The parser, and what is shown of it. */
  name: string;
  property: fc.IProperty<[unknown]>;
}

/** A property of one generated value; `check` throws when it does not hold. */
export function property<T>(name: string, values: fc.Arbitrary<T>, check: (value: T) => void): Property {
  return { name, property: fc.property(values, check) as fc.IProperty<[unknown]> };
}

/** Throws with both values when they differ; -0 and 0 are the same. */
export function same(what: string, found: unknown, expected: unknown): void {
  const [left, right] = [fc.stringify(found), fc.stringify(expected)];
  if (left !== right && !(found === 0 && expected === 0)) throw new Error(`${what}: ${left}, expected ${right}`);
}

/** The value, or the class of the error: `expected` is the only one that the parser declares. */
export function valueOrRefused<T>(parse: () => T, expected: new (...args: never[]) => Error): T | 'refused' {
  try {
    return parse();
  } catch (error) {
    if (error instanceof expected) return 'refused';
    throw error;
  }
}
