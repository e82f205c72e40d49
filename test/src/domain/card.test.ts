import { isCardNumber, truncatedPan } from '../../../src/domain/card';

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

test('a truncated number keeps the first six and the last four', () => {
  expect(truncatedPan('4111 1111 1111 1111')).toBe('411111******1111');
});
