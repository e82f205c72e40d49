import { describeFetch } from '../../workflows/settlements';

const WAITING = Date.UTC(2026, 0, 15, 12);

test.each([
  [{ settled: 12, waiting: 0 }, 'Settled 12 transactions.'],
  [
    { settled: 0, waiting: 2, waiting_since: WAITING },
    'Settled 0 transactions. 2 settlements wait for their transaction, the oldest since 2026-01-15T12:00:00.000Z: see settlement list of the command line',
  ],
])('an operator reads what was fetched: %j', (fetched, words) => {
  expect(describeFetch(fetched)).toBe(words);
});
