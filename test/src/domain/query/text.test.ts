import { fold, nearest, withoutCase, wordsOf } from '../../../../src/domain/query/text';

test.each([
  ['A-1', 'a-1'],
  ['①②', '12'],
  ['ＡＢＣ', 'abc'],
  ['Cafe\u0301', 'café'],
  ['ΟΔΟΣ', 'οδοσ'],
  ['οδος', 'οδοσ'],
  ['İ', 'i̇'],
])('rules 20.4: %s is compared as %s, and what is compared stays as it is', (text, folded) => {
  expect(fold(text)).toBe(folded);
  expect(fold(folded)).toBe(folded);
});

test('rules 20.4: a long run of combining marks is part of its word, and what is compared stays as it is', () => {
  const marks = `${'\u0300'.repeat(60_000)}${'\u0316'.repeat(60_000)}`;
  expect(wordsOf(`A${marks} b`).length).toBe(2);
  expect(fold(fold(marks)) === fold(marks)).toBe(true);
});

test.each([
  ['Ada@Shop.Example', 'ada@shop.example'],
  ['JÜRGEN', 'jürgen'],
  ['ΟΔΟΣ', 'οδοσ'],
  ['οδος', 'οδοσ'],
  ['STRASSE', 'strasse'],
  ['STRAẞE', 'straße'],
  ['ＡＢＣ²', 'ａｂｃ²'],
])('rules 29.3: %s without case is %s, of the same letters', (text, expected) => {
  expect(withoutCase(text)).toBe(expected);
});

test.each([
  ["Smith & O'Brien, e-mail: a@b.example", ['smith', 'o', 'brien', 'e', 'mail', 'a', 'b', 'example']],
  ['हिन्दी नमस्ते', ['हिन्दी', 'नमस्ते']],
  ['… — !', []],
])('rules 20.6: the words of %s', (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

test.each([
  ['stauts', 'status'],
  ['STATUS', 'status'],
  ['email_address', 'customer.email_address'],
  ['transaction.statsu', 'transaction.status'],
  ['colour', undefined],
  ['', undefined],
])('the name nearest to %p is %p', (text, name) => {
  expect(nearest(text, ['id', 'status', 'transaction.status', 'customer.email_address'])).toBe(name);
});
