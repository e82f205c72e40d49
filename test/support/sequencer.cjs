const { statSync } = require('node:fs');

/**
 * The order of the test files, the same on every machine. The long ones come first, so that none of them is left alone
 * at the end, and those that mostly wait stand between those that keep every core busy. Seconds were measured on two
 * busy cores: an idle machine needs about half of them.
 */
const FIRST = [
  'journeys/races', // 220
  'journeys/kill', // 170
  'api/operations/search-orders.paging', // 146
  'api/page/browser', // 160
  'api/report', // 127
  'journeys/long-outcomes', // 90
  'src/db/follow-ups.property', // 90
  'api/operations/search-orders', // 78
  'journeys/worker-killed-at-random', // 64
  'api/http/docs', // 69
  'src/main/recovery', // 63
  'src/main/start', // 61
  'journeys/late-approvals', // 60
  'journeys/captures', // 59
  'workflows/order.operator', // 53
  'journeys/idempotency', // 51
  'workflows/follow-up', // 49
  'journeys/sandbox-clock', // 48
  'journeys/concurrent-payments', // 47
  'workflows/sandbox-clock', // 45
  'journeys/lost-answers', // 46
  'api/page/index', // 46
  'journeys/refunds', // 37
  'journeys/docs', // 36
  'src/processor/client', // 36
  'src/main/indexer.kill', // 35
  'workflows/webhook-delivery', // 34
  'journeys/outages', // 34
  'src/db/moves', // 36
  'journeys/voids', // 31
  'workflows/order.authorization', // 30
  'journeys/every-card', // 29
  'journeys/payment-links', // 27
  'workflows/wait', // 25
  'journeys/endings', // 26
  'src/main/indexer', // 25
  'workflows/order', // 23
  'journeys/leap-year', // 23
  'workflows/settlements', // 19
  'journeys/errors', // 19
  'api/operations/update-order', // 19
  'workflows/payment-link', // 18
  'journeys/budget', // 18
  'journeys/failed-tasks', // 17
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
