import fc from 'fast-check';
import { fold } from '../../../src/domain/query/text';
import { PREFIX_MAX, encoded, stored } from '../../../src/search/text';

/** Texts that the index would take for each other. */
const TEXTS = [
  ' a',
  'a',
  'a ',
  '12',
  '１２',
  'é',
  'e\u0301',
  'e',
  'ß',
  'ss',
  'ﬁ',
  'fi',
  '~',
  '~z~',
  '=',
  '',
  '\t',
  '語',
];
const text = fc.array(fc.constantFrom(...TEXTS), { maxLength: 6 }).map((parts) => fold(parts.join('')));

it('tells texts apart exactly where their folded forms differ, and knows their beginnings', () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      expect(stored(one) === stored(other)).toBe(one === other);
      expect(encoded(one).startsWith(encoded(other))).toBe(one.startsWith(other));
      // Visible ASCII without capitals: nothing to trim, to lower or to take apart.
      expect(stored(one)).toMatch(/^=[!-@[-~]*$/);
    }),
  );
});

it('keeps a long text short, with its beginning, and still tells it from others', () => {
  const [one, other] = ['語'.repeat(254), '語'.repeat(255)].map((long) => stored(long));
  expect(one).not.toBe(other);
  expect(Buffer.byteLength(one!)).toBeLessThanOrEqual(468);
  expect(one!.slice(0, PREFIX_MAX)).toBe(encoded('語'.repeat(254)).slice(0, PREFIX_MAX));
});
