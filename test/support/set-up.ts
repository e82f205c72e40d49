type Closable = object & { close?: () => unknown };

/** What closes all that is open, in the order it was made. */
const open: (() => unknown)[] = [];

/**
 * What the tests of a file, or of a `describe`, have in common: made before the first of them, closed after the last,
 * what was made last first. It is empty until then: only tests and hooks may use it.
 */
export function setUp<Made extends Closable>(
  make: () => Made | Promise<Made>,
  close: (made: Made) => unknown = (made) => made.close?.(),
): Made {
  const shared = {} as Made;
  let is_made = false;
  beforeAll(async () => {
    const made = await make();
    // Of another realm Object.prototype is another one.
    for (let level: Made | null = made; level && level !== Object.prototype; level = Object.getPrototypeOf(level)) {
      for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(level))) {
        // A method of a class finds its private fields on the object itself only.
        if (level !== made && typeof property.value === 'function') property.value = property.value.bind(made);
        if (!Object.hasOwn(shared, name)) Object.defineProperty(shared, name, property);
      }
    }
    is_made = true;
    open.push(() => close(made));
  });
  afterAll(async () => {
    if (is_made) await open.pop()!();
  });
  return shared;
}
