import { pauseAfter } from '../../../src/domain/search-pace';

test.each([
  ['without changes it looks again soon', { written: 0, batch_ms: 500, since_ms: 500 }, 300],
  ['a quick batch waits for more changes', { written: 1, batch_ms: 100, since_ms: 100 }, 500],
  ['a slow one begins in time for the next to be found', { written: 1, batch_ms: 200, since_ms: 200 }, 300],
  ['it always leaves a pause', { written: 1, batch_ms: 5_000, since_ms: 5_000 }, 200],
])('rules 20.12: %s', (_title, batch, pause) => expect(pauseAfter(batch)).toBe(pause));
