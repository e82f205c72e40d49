import { createHash } from 'node:crypto';
import { CHANGELOG } from '../../src/contract/manage/changelog';
import { MANAGE_API } from '../../src/contract/manage/manage-api';
import { openApi } from '../../src/contract/openapi';

/** Rules 21.15: what the document says of an operation changes only together with an entry of the changelog. */

const document = openApi(MANAGE_API);

/** What callers depend on: addresses, parameters, fields and statuses; not how it is described. */
const WORDS = ['description', 'summary', 'example', 'examples', 'tags'];

/** A part of the document with its references replaced by what they refer to. */
function shapeOf(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(shapeOf);
  if (typeof part !== 'object' || part === null) return part;
  const { $ref } = part as { $ref?: string };
  // Its list of types grows with the other host.
  if ($ref === '#/components/schemas/Error') return $ref;
  if ($ref !== undefined) {
    const path = $ref.slice('#/'.length).split('/');
    return shapeOf(path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], document));
  }
  // Under `properties` the keys are fields: one may be called `description`.
  const isFields = (key: string) => key === 'properties';
  const entries = Object.entries(part).filter(([key]) => !WORDS.includes(key));
  return Object.fromEntries(
    entries.map(([key, value]) => [
      key,
      isFields(key)
        ? Object.fromEntries(Object.entries(value as object).map(([field, schema]) => [field, shapeOf(schema)]))
        : shapeOf(value),
    ]),
  );
}

const digests = Object.fromEntries(
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [
      operation.operationId,
      createHash('sha256')
        .update(JSON.stringify([method, path, shapeOf(operation)]))
        .digest('hex')
        .slice(0, 12),
    ]),
  ),
);

test('rules 21.15: every operation is in the changelog as the document has it, and every one that is gone', () => {
  const told = CHANGELOG.flatMap(({ operations }) => Object.entries(operations));
  // The newest entry has it, and no other.
  expect(told.map(([operation]) => operation)).toHaveLength(new Set(told.map(([operation]) => operation)).size);
  const present = Object.fromEntries(told.filter(([, digest]) => digest !== null));
  // It fails here: add an entry to src/contract/manage/changelog.ts that says what callers notice, with these digests.
  expect(present).toEqual(digests);
});

test('entries are newest first, each with a version of its own', () => {
  const dates = CHANGELOG.map(({ date }) => date);
  expect(dates).toEqual(dates.toSorted().toReversed());
  expect(new Set(CHANGELOG.map(({ version }) => version)).size).toBe(CHANGELOG.length);
});

test('the digest is about fields, not about words', () => {
  const field = { type: 'object', properties: { description: { type: 'string', description: 'Old words.' } } };
  expect(shapeOf(field)).toEqual({ type: 'object', properties: { description: { type: 'string' } } });
});
