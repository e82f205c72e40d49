import { CARD_DIGITS_MIN, isCardNumber } from '../../../src/domain/card';

test.each([
  ['4111111111111111', true],
  ['4111 1111 1111 1111', true],
  ['4111-1111-1111-1111', true],
  ['4111111111111112', false],
  ['1234567890123', false],
  ['order 4111', false],
  ['', false],
])('%s is a card number: %s', (text, expected) => {
  expect(isCardNumber(text)).toBe(expected);
});

test.each([
  ['5901664064924', 'an EAN'],
  ['501234567896', 'a UPC'],
])('%s (%s) was a card number once, and is none that is issued', (text) => {
  expect([isCardNumber(text), isCardNumber(text, CARD_DIGITS_MIN.issued)]).toEqual([true, false]);
});
