import { NO_FIGURES } from '../../src/db/audit/audit-progress';
import { describeAudit } from '../../workflows/audit';

test.each([
  [
    { orders: 3 },
    'Compared 3 orders with the processor; 0 change at the moment and are compared again. Opened 0 incidents, closed 0.',
  ],
  [
    { orders: 3, in_flight: 1, opened: 2, closed: 1, index_differences: 4 },
    'Compared 3 orders with the processor; 1 change at the moment and are compared again. Opened 2 incidents, closed 1. Wrote 4 orders to the search index again.',
  ],
])('an operator reads what the audit found: %j', (found, words) => {
  expect(describeAudit({ ...NO_FIGURES, ...found })).toBe(words);
});
