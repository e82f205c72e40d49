import { READINGS, readings, visibleText } from '../../../src/domain/card-reading';

/** A text with so many digits that it is read. */
const read = (text: string) => [...readings(text)];

test.each([
  ['411 & 1 < 2', ['411 & 1 < 2']],
  ['%34%2531', ['%34%2531', '41']],
  ['4&nbsp;1&amp;#160;2&#52;&#x35;', ['4&nbsp;1&amp;#160;2&#52;&#x35;', '4 1 245']],
  ['4<br/>\n 1</td> <td x="2">3', ['4<br/>\n 1</td> <td x="2">3', '4,1,3']],
  ['<a href="?n=%34">', ['<a href="?n=%34">', '<a href="?n=4">', ',']],
  ['&#1114112;1', ['&#1114112;1', ' 1']],
])('rules 15.4: %j is read as %j', (text, expected) => {
  expect(read(text)).toEqual(expected);
});

test('a text beyond ASCII with too few digits is not read', () => {
  expect(read('Bücher 12345')).toEqual([]);
});

test('invisible characters are dropped, digits of every script are read', () => {
  expect(visibleText('４\u200b١\u0301१')).toBe('411');
});

test('read in pieces it is the same', () => {
  const text = 'a%2534&nbsp;<b>1</b>\u200b４&#53;';
  const inPieces = READINGS.map(({ pieces, read: piece }) =>
    Array.from(text.matchAll(pieces), ([found]) => piece(found)).join(''),
  );
  expect(new Set(inPieces)).toEqual(new Set(read(text)));
});
