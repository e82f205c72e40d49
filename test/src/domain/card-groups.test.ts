import { cardNumbersInGroups } from '../../../src/domain/card-groups';

const found = (text: string, digits_min = 14) =>
  [...cardNumbersInGroups(text, digits_min)].map(({ start, end }) => text.slice(start, end));

test.each([
  ['in one run', 'card 4111111111111111.', '4111111111111111'],
  ['in groups', 'a 4111 1111-1111 1111 b', '4111 1111-1111 1111'],
  ['in halves', '41111111 11111111', '41111111 11111111'],
  ['in pairs, before an expiry', '41 11 11 11 11 11 11 11 12/30', '41 11 11 11 11 11 11 11'],
  ['in single digits', '4.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1', '4.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1'],
  ['in a list of groups', '"4111","1111","1111","1111"', '4111","1111","1111","1111'],
])('a card number %s has its position', (_name, text, expected) => {
  expect(found(text)[0]).toBe(expected);
});

test.each([
  ['too few digits', '4111 1111 1111', 14],
  ['groups of other lengths', '411 11111 1111 1111', 14],
  ['sizes in order', '41, 42, 43, 44, 45, 46, 47, 48', 12],
  ['a part of an IPv6 address', '2001:4111:1111:1111:1111:0:0:1', 14],
])('%s: none is found', (_name, text, digits_min) => {
  expect(found(text, digits_min)).toEqual([]);
});
