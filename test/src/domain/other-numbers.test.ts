import { withoutOtherNumbers } from '../../../src/domain/other-numbers';

const shown = (text: string) => withoutOtherNumbers(text).replace(/x+/g, 'x');

test.each([
  ['a UUID', 'order 5d3b8f0a-7b7e-4a63-8a8f-2f5b7f1c9d22!', 'order x!'],
  ['a digest', 'sha 4111111111111111aaaaaaaa', 'sha x'],
  ['an IBAN, in one run or in groups', 'NL91ABNA0417164300 or NL91 ABNA 0417 1643 00, please', 'x or x, please'],
  ['an IBAN only as far as its check digits tell', 'NL91 ABNA 0417 1643 00 4111', 'x 4111'],
])('%s is passed over', (_name, text, expected) => {
  expect(shown(text)).toBe(expected);
  expect(withoutOtherNumbers(text)).toHaveLength(text.length);
});

test.each([
  ['a card number', '4111111111111111'],
  ['the data of a magnetic stripe', '4111111111111111d30121234567890f'],
  ['the shape of an IBAN with other check digits', 'NL92ABNA0417164300'],
])('%s stays', (_name, text) => {
  expect(withoutOtherNumbers(text)).toBe(text);
});
