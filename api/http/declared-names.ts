/** The names of fields, parameters and headers that an API defines. */
export interface DeclaredNames {
  /**
   * The leading part of a dotted path that consists of names of the API and places in its lists; `undefined` when the
   * first name is not one. Names beyond it are a client's own text.
   */
  declaredPart(path: string): string | undefined;
}

/** The names that an OpenAPI document defines. */
export function declaredNames(document: unknown): DeclaredNames {
  const names = new Set<string>();
  const lists = new Set<string>();
  collect(document, names, lists);
  return {
    declaredPart(path) {
      const parts = path.split('.');
      const end = parts.findIndex((part, at) => {
        const isPlace = /^\d{1,3}$/.test(part) && lists.has(parts[at - 1] ?? '');
        return !isPlace && !names.has(part);
      });
      return end === 0 ? undefined : parts.slice(0, end === -1 ? parts.length : end).join('.');
    },
  };
}

interface Part {
  type?: unknown;
  anyOf?: unknown;
  properties?: unknown;
  in?: unknown;
  name?: unknown;
}

function collect(part: unknown, names: Set<string>, lists: Set<string>): void {
  if (typeof part !== 'object' || part === null) return;
  const { properties, in: place, name } = part as Part;
  if (typeof properties === 'object' && properties !== null) {
    for (const [field, schema] of Object.entries(properties)) {
      names.add(field);
      if (isList(schema)) lists.add(field);
    }
  }
  if (typeof place === 'string' && typeof name === 'string') names.add(name);
  for (const inner of Object.values(part)) collect(inner, names, lists);
}

function isList(schema: unknown): boolean {
  const { type, anyOf } = schema as Part;
  return type === 'array' || (Array.isArray(anyOf) && anyOf.some(isList));
}
