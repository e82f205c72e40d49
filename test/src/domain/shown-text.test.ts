import { asMarkdown, hasUnseen, inLines, inOneLine } from '../../../src/domain/shown-text';

const ESC = '\u001b';

test.each([
  [`${ESC}[31mred${ESC}]8;;https://evil\u0007`, '\\u001b[31mred\\u001b]8;;https://evil\\u0007', 'an escape sequence'],
  ['\u009b2J', '\\u009b2J', 'one of a single byte'],
  ['a\r\nb', 'a\\u000d\\u000ab', 'a line break'],
  ['a\u2028b\u0085c', 'a\\u2028b\\u0085c', 'another line break'],
  ['exe.\u202egpj', 'exe.\\u202egpj', 'a mark of direction'],
  ['\u2066a\u2069 \u200ba\u00ad\ufeff', '\\u2066a\\u2069 \\u200ba\\u00ad\\ufeff', 'isolates and zero-width characters'],
  ['a\u{e0041}', 'a\\udb40\\udc41', 'a tag'],
  ['a\ud800', 'a\\ud800', 'half of a surrogate pair'],
])('%j is shown as %s: %s', (text, shown) => {
  expect([inOneLine(text), hasUnseen(text)]).toEqual([shown, true]);
  expect(inLines(`${text}\n`)).toBe(`${shown.replaceAll('\\u000a', '\n')}\n`);
});

test.each(['Müller & Söhne', "L'Aquila", 'חנות', 'متجر', 'दुकान', '书店', 'Shop ❤️ 👍🏽', 'a\\u001b', ''])(
  '%j is shown as it is',
  (text) => {
    expect([inOneLine(text), inLines(text), hasUnseen(text)]).toEqual([text, text, false]);
  },
);

test('JSON says the same afterwards', () => {
  const value = { name: ['a', ESC, '\n"\\', '\u202e', '\ud800', '\u{e0041}'].join('-') };
  const text = inLines(JSON.stringify(value, null, 2));
  expect(JSON.parse(text)).toEqual(value);
  expect(text).toMatch(/^[\n -~]+$/);
});

test('Markdown that shows a text has none of its marks; most references stay as they are', () => {
  expect(asMarkdown('[x](https://evil) <img src=x> **b**\n# h &amp; `c` -- 1/2 ... _i_ \\')).not.toMatch(
    /[[\](){}<>*_`~$|!"':/\\]|\n|&(?!#\d+;)|#(?!\d+;)|--|\.\./,
  );
  const plain = ['M-1001', 'Bestellung 2026.0012, Müller', '00042', '注文 7', 'a-b.c'];
  expect(plain.map(asMarkdown)).toEqual(plain);
});
