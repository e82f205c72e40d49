import { etagOf, isKnown, versionsOf } from '../../../api/http/etag';

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
  expect(versionsOf(if_match)).toEqual(allowed);
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
