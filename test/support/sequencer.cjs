const { statSync } = require('node:fs');

/**
 * The order of the test files, the same on every machine. The long ones come first, so that none of them is left alone
 * at the end, and those that mostly wait stand between those that keep every core busy. Seconds were measured beside three
 * others on two cores.
 */
const FIRST = [
  'journeys/kill', // 196
  'journeys/races', // 81
  'api/page/browser', // 106
  'journeys/lost-answers', // 44
  'api/operations/search-orders.paging', // 87
  'journeys/worker-killed-at-random', // 60
  'journeys/outages', // 54
  'journeys/captures', // 48
  'src/db/orders/follow-ups.property', // 41
  'journeys/endings', // 27
  'journeys/idempotency', // 36
  'journeys/sandbox-clock', // 42
  'journeys/late-approvals', // 24
  'journeys/concurrent-payments', // 29
  'workflows/follow-up', // 37
  'api/page/index', // 35
  'src/indexer/indexer', // 35
  'api/large-answers/report', // 34
  'src/main/start', // 30
  'src/recovery/recovery', // 18
  'workflows/order.authorization', // 23
  'workflows/order', // 21
  'journeys/long-outcomes', // 21
  'api/operations/search-orders', // 21
  'journeys/voids', // 20
  'journeys/every-card', // 19
  'src/processor/client', // 17
  'workflows/payment-link', // 19
  'api/http/docs', // 21
  'journeys/failed-tasks', // 14
  'journeys/docs', // 15
  'journeys/chargebacks', // 13
  'api/operations/update-order', // 13
  'journeys/api-keys', // 14
  'src/indexer/indexer.kill', // 12
  'workflows/webhook-delivery', // 12
  'src/temporal/follow-ups', // 11
  'src/temporal/call', // 10
  'src/temporal/outages', // 9
  'src/db/connection', // 9
  'src/db/moves', // 10
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
