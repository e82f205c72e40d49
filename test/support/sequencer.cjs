const { statSync } = require('node:fs');

/**
 * The order of the test files, the same on every machine. The long ones come first, so that none of them is left alone
 * at the end, and those that mostly wait stand between those that keep every core busy. Seconds were measured on two
 * busy cores: an idle machine needs about half of them.
 */
const FIRST = [
  'journeys/kill', // 176
  'journeys/races', // 68
  'api/page/browser', // 73
  'api/operations/search-orders.paging', // 71
  'journeys/captures', // 65
  'api/report', // 51
  'journeys/worker-killed-at-random', // 51
  'journeys/long-outcomes', // 49
  'journeys/idempotency', // 49
  'journeys/sandbox-clock', // 48
  'journeys/lost-answers', // 43
  'workflows/order.operator', // 35
  'api/page/index', // 35
  'src/main/recovery', // 35
  'journeys/refunds', // 34
  'api/operations/search-orders', // 33
  'src/db/follow-ups.property', // 29
  'journeys/every-card', // 28
  'journeys/outages', // 27
  'journeys/late-approvals', // 25
  'journeys/endings', // 25
  'src/main/start', // 24
  'journeys/concurrent-payments', // 22
  'src/main/indexer', // 21
  'workflows/follow-up', // 21
  'api/http/docs', // 19
  'journeys/voids', // 17
  'src/processor/client', // 17
  'journeys/failed-tasks', // 16
  'api/operations/update-order', // 15
  'journeys/api-keys', // 15
];

/** Its place among FIRST; all others come after them. */
function rank({ path }) {
  const n = FIRST.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));
  return n === -1 ? FIRST.length : n;
}
const size = ({ path }) => statSync(path).size;

module.exports = class Sequencer {
  sort(tests) {
    return tests.toSorted((a, b) => rank(a) - rank(b) || size(b) - size(a));
  }

  /** Nothing of a run is remembered: the next one has the same order. */
  cacheResults() {}
};
