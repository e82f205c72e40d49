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

// All have the prefix, length and check digit of a card number. Each pair differs in what makes it something else.
test.each<[string, none: string, found: string]>([
  ['sizes that rise', '41 42 43 44 45 46 47 48', '41 41 49 50 51 52 53 54'],
  ['sizes that fall', '52 51 47 46 45 44 43 42', '52 52 46 44 43 42 41 40'],
  ['prices, which end with 0, 5 or 9', '4100,1000,9000,2055', '4100,1000,9000,2006'],
  ['prices, none of which begins with 0', '4100,1000,9000,2030', '4100,0050,9000,2015'],
  ['articles, none of which is there twice', '4123,4400,4700,5014', '4123,4123,4700,5010'],
  ['articles, none of which begins with 0', '4123,4400,4701,5013', '4123,0456,4701,5014'],
  ['articles of one size', '4000,4121,7000,5127', '4000,4121,7001,5126'],
  ['a number that begins with a day', '260115 1234567899', '260132 1234567898'],
  ['the first day of a month', '260101 1234567895', '260100 1234567896'],
  ['a day of the last month', '261231 1234567896', '261315 1234567895'],
  ['a day of the tenth month', '261015 1234567898', '260001 1234567896'],
  ['a day of the last third of a month', '260930 1234567892', '260840 1234567891'],
  ['an IPv6 address that begins before it', '2001:4111:1111:1111:1111', 'card:4111:1111:1111:1111'],
  ['an address that begins with colons', ':4111:1111:1111:1111', 'at ::1, 4111:1111:1111:1111'],
  ['an address that begins with a letter', 'd:4111:1111:1111:1111', 'pan d:4111,1111,1111,1111'],
  ['an address that ends after it', '4111:1111:1111:1111::1', '4111:1111:1111:1111 of ::1'],
  ['an address with a letter after it', '4111:1111:1111:1111:a', '4111:1111:1111:1111:x'],
  ['a network', '4111:1111:1111:1111/64', '4111:1111:1111:1111/x'],
  ['a longer number in fours', '1111 4111 1111 1111 1111 1111', '11 4111 1111 1111 1111'],
])('rules 15.7: %s: none in %j, one in %j', (_name, none, one) => {
  expect([found(none), found(one).length]).toEqual([[], 1]);
});
