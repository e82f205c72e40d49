const { statSync } = require('node:fs');

/**
 * The order of the test files, two at a time: the same on every machine. The long ones come first, so that none of them is left
 * alone at the end; kill mostly waits, so others work beside it; of those that keep every core busy no two run side by side.
 */
const FIRST = [
  'journeys/kill',
  'api/page/browser',
  'journeys/lost-answers',
  'src/main/recovery',
  'journeys/idempotency',
  'journeys/every-card',
  'journeys/races',
  'src/db/follow-ups.property',
  'journeys/late-approvals',
  'journeys/refunds',
  'workflows/follow-up',
  'journeys/webhook',
  'journeys/worker-killed-at-random',
  'journeys/replay',
  'src/main/start',
  'journeys/long-outcomes',
  'journeys/captures',
  'workflows/order.authorization',
  'api/page/index',
  'src/db/moves',
  'workflows/order',
  'journeys/concurrent-payments',
  'journeys/leap-year',
  'src/db/unfinished',
  'journeys/errors',
  'journeys/chargebacks',
];

function place({ path }) {
  const n = FIRST.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));
  return n === -1 ? FIRST.length : n;
}
const size = ({ path }) => statSync(path).size;

module.exports = class Sequencer {
  sort(tests) {
    return tests.toSorted((a, b) => place(a) - place(b) || size(b) - size(a));
  }

  /** Nothing of a run is remembered: the next one has the same order. */
  cacheResults() {}
};
