import { cardNumberLength, isCardNumber, yearFollows } from '../../../src/domain/card-number';

const VISA = '4111111111111111';
const AMEX = '378282246310005';
const DINERS = '30569309025904';

test.each<[string, string, number]>([
  [VISA, '', 16],
  [`${VISA}123`, '', 16],
  [`${AMEX}1234`, '', 15],
  [`${VISA}1230`, '', 16],
  [`${VISA}122030123`, '', 16],
  [`${DINERS}1230`, '', 14],
  [`${VISA}12`, '/30', 16],
  [`${VISA}12`, ' / 2030 123', 16],
  [`${VISA}12`, '', 0],
  [`${VISA}13`, '/30', 0],
  [`${VISA}1330`, '', 0],
  [`${VISA}0000`, '', 0],
  [`${VISA.slice(0, 15)}2123`, '', 0],
])('a run %s before %j has a card number of %i digits', (digits, after, length) => {
  expect(cardNumberLength(digits, after)).toBe(length);
});

test('the number alone has the prefix, length and check digit of a brand', () => {
  expect([VISA, AMEX, DINERS, `${VISA}1`, '4111111111111112', '1234567890123452'].map(isCardNumber)).toEqual([
    ...[true, true, true],
    ...[false, false, false],
  ]);
});

test.each([
  ['/30 123', true],
  ['-2030', true],
  ['/301', false],
  [' 30', false],
])('%j goes on with a year: %s', (text, expected) => {
  expect(yearFollows(text)).toBe(expected);
});
