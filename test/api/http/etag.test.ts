import { allowedVersions, etagOf, isKnown, requireVersion } from '../../../api/http/etag';

test('the tag is strong', () => {
  expect(etagOf(12)).toBe('"12"');
});

test.each<[if_match: string | undefined, allowed: number[] | undefined]>([
  [undefined, undefined],
  ['*', undefined],
  [' * ', undefined],
  ['"0"', [0]],
  ['"12"', [12]],
  ['"3", "4" ,"5"', [3, 4, 5]],
  ['W/"3"', []],
  ['3', []],
  ['"3', []],
  ['"03"', []],
  ['"-1"', []],
  ['"99999999999999999999"', []],
  ['"another", "7"', [7]],
  ['', []],
])('If-Match: %s allows %j', (if_match, allowed) => {
  expect(allowedVersions(if_match === undefined ? {} : { if_match })).toEqual(allowed);
});

test('an order at another version is refused, one at this version is not', () => {
  expect(() => requireVersion({ is_repeat: false, if_match: '"3"' }, 3)).not.toThrow();
  expect(() => requireVersion({ is_repeat: false }, 3)).not.toThrow();
  expect(() => requireVersion({ is_repeat: true, if_match: '"2"' }, 3)).not.toThrow();
  expect(() => requireVersion({ is_repeat: false, if_match: '"2", "4"' }, 3)).toThrow(
    expect.objectContaining({ error: 'PreconditionFailed' }) as Error,
  );
});

test.each<[if_none_match: string | undefined, known: boolean]>([
  [undefined, false],
  ['"3"', true],
  ['W/"3"', true],
  ['"2", "3"', true],
  ['*', true],
  ['"2"', false],
  ['3', false],
  ['', false],
])('If-None-Match: %s knows version 3: %s', (if_none_match, known) => {
  expect(isKnown(if_none_match, 3)).toBe(known);
});
