import fc from 'fast-check';
import { RowNumbers } from '../../../src/search/row-numbers';

test('a row is new once, as in a Set', () => {
  const near = fc.nat(10_000);
  const far = fc.tuple(fc.constantFrom(2 ** 31, 2 ** 32, 2 ** 52), near).map(([base, row]) => base + row - 5_000);
  fc.assert(
    fc.property(fc.array(fc.oneof(near, far), { maxLength: 500 }), (rows) => {
      const [read, expected] = [new RowNumbers(), new Set<number>()];
      for (const row of rows) {
        expect([row, read.add(row)]).toEqual([row, !expected.has(row)]);
        expected.add(row);
      }
    }),
  );
});

test('a row is new beside all other rows of its order, and of orders nearby', () => {
  const read = new RowNumbers();
  // More orders than are kept in a map.
  const rows = Array.from({ length: 40_000 }, (_, row) => 2 ** 33 + 31 * row);
  expect(rows.filter((row) => !read.add(row))).toEqual([]);
  expect(rows.filter((row) => read.add(row))).toEqual([]);
  expect(rows.filter((row) => !read.add(row + 1))).toEqual([]);
});
