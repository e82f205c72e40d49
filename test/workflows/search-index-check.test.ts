import { describeCheck } from '../../workflows/search-index-check';

const EQUAL = { orders: 12, rows: 15, missing: 0, different: 0, unknown: 0, refused: 0 };

test.each<[Partial<typeof EQUAL>, string]>([
  [{}, 'The index has all of them as the record has.'],
  [
    { missing: 3, different: 2, unknown: 1 },
    'Written again: 3 that the index lacked, 2 that it had otherwise, 1 that do not exist.',
  ],
  [
    { refused: 2 },
    'The index has all of them as the record has. The index refuses 2 orders: see the table search_refusals.',
  ],
])('an operator reads what the check found: %j', (found, words) => {
  expect(describeCheck({ ...EQUAL, ...found })).toBe(`Compared 12 orders with 15 rows. ${words}`);
});
