import { etagOf, isKnown, versionsOf } from '../../../api/http/etag';

test('the tag is strong', () => {
  expect([etagOf(12, 0), etagOf(12, 1_900_000_000)]).toEqual(['"12"', '"12-1900000000"']);
});

test('rules 28.4: a tag from before a restore names no version after it, as others have its number', () => {
  const [before, after] = [etagOf(2, 0), etagOf(2, 1_900_000_000)];
  expect(versionsOf(`${before}, ${after}`, 1_900_000_000)).toEqual([2]);
  expect([before, after].map((tag) => isKnown(tag, 2, 1_900_000_000))).toEqual([false, true]);
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
  ['"NaN"', []],
  ['"-1"', []],
  ['"99999999999999999999"', []],
  ['"another", "7"', [7]],
  ['', []],
])('If-Match: %s allows %j', (if_match, allowed) => {
  expect(versionsOf(if_match, 0)).toEqual(allowed);
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
  expect(isKnown(if_none_match, 3, 0)).toBe(known);
});
