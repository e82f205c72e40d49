import { v7 as uuidv7 } from 'uuid';
import { createActivities } from '../../activities';
import type { ActivityServices } from '../../activities/services';
import { moveOrder } from '../../src/db/orders/move-order';
import { findOrderSnapshot, loadOrderSnapshot } from '../../src/db/orders/order-snapshot';
import { recordPoll } from '../../src/db/orders/transactions';
import type { ClockProgress } from '../../src/domain/sandbox-clock';
import { createTestDatabase } from '../support/database';
import { MINUTE, NOW, PROJECT } from '../support/domain';
import { aStoredOrder } from '../support/rows';
import { setUp } from '../support/set-up';

const database = setUp(() => createTestDatabase());
beforeEach(() => {
  called.splice(0);
});

/** What workflows were signalled, in their order, and what the order's does then. */
const called: string[] = [];
type Orders = ActivityServices['workflows']['orders'];
function activities(does: { advanceClock?: Orders['advanceClock']; requestPoll?: Orders['requestPoll'] } = {}) {
  const orders = {
    advanceClock: async (...[order]: Parameters<Orders['advanceClock']>) => {
      called.push(`advanced ${await offsetOf(order.order_id)}`);
      await does.advanceClock?.(order);
    },
    requestPoll: async (order_id: string) => {
      called.push('polled');
      await does.requestPoll?.(order_id);
    },
  };
  return createActivities({ db: database.db, workflows: { orders } } as unknown as ActivityServices);
}

/** The order's workflow: it expires once its clock says so, a moment after it was told. */
const expires: Orders['advanceClock'] = async ({ order_id }) => {
  const order = await loadOrderSnapshot(database.db, order_id);
  if (NOW + SECOND + order.clock_offset_ms < order.expires_at) return;
  await moveOrder(database.db, order, { ended: 'expired' }, { source: 'service', now: order.expires_at });
};

async function aClock(): Promise<{ clock_id: string; project_id: string }> {
  const { id: clock_id } = await aStoredOrder(database.db, { transaction: false });
  await begin(clock_id);
  return { clock_id, project_id: PROJECT.id };
}

const SECOND = 1_000;
const HOUR = 60 * MINUTE;
const begin = (clock_id: string, advance_ms = HOUR) =>
  activities().beginClockAdvance({
    clock_id,
    project_id: PROJECT.id,
    request_id: uuidv7(),
    advance: { advance_ms },
    now: NOW,
  });
const offsetOf = async (clock_id: string) => (await findOrderSnapshot(database.db, clock_id))!.clock_offset_ms;

/** Calls the activity again with its progress, as the workflow does: one call ends after two seconds of any machine. */
async function advance(
  by: ReturnType<typeof activities>,
  clock: Awaited<ReturnType<typeof aClock>>,
  isEnough: (progress: ClockProgress) => boolean,
): Promise<ClockProgress> {
  let progress: ClockProgress | undefined;
  do progress = await by.advanceToNextDue({ ...clock, to_offset_ms: HOUR, progress, now: NOW });
  while (!isEnough(progress));
  return progress;
}

test('the clock stops when an action falls due, and goes on when that has happened', async () => {
  const clock = await aClock();
  await advance(activities({ advanceClock: expires }), clock, ({ is_finished }) => is_finished);
  // The order was told of its own end; the final one concerns nobody.
  expect(called).toEqual([expect.stringMatching(/^advanced (1800000|17\d{5})$/)]);
  expect([(await loadOrderSnapshot(database.db, clock.clock_id)).status, await offsetOf(clock.clock_id)]).toEqual([
    'expired',
    HOUR,
  ]);
});

test('it waits for an action that has not happened, in the next call too', async () => {
  const clock = await aClock();
  const after = await advance(activities(), clock, ({ waited_ms }) => waited_ms > 1_000);
  expect(after).toMatchObject({
    is_finished: false,
    given_up: [],
    awaited: [expect.stringContaining('order.expired')],
  });
  expect(await offsetOf(clock.clock_id)).toBeLessThanOrEqual(30 * MINUTE);
});

test('the end of an advance asks the processor for an unknown outcome, once', async () => {
  const order = await aStoredOrder(database.db);
  const { id: transaction_id } = order.transactions[0]!;
  await moveOrder(database.db, order, { transaction_id, to: 'processing' }, { source: 'service', now: NOW });
  const { n } = await begin(order.id);
  const poll_at = NOW + HOUR;
  const worker = activities({
    requestPoll: async () =>
      void (await recordPoll(database.db, { is_unknown: true, transaction_id, now: NOW, poll_at })),
  });
  const finish = { clock_id: order.id, project_id: PROJECT.id, n, now: NOW };
  expect(await worker.finishClockAdvance({ ...finish, poll: true })).toBe('polled');
  expect(await worker.unfinishedClockAdvances({ clock_id: order.id })).toHaveLength(1);
  expect(await worker.finishClockAdvance({ ...finish, poll: false })).toBe('finished');
  expect([called, await worker.unfinishedClockAdvances({ clock_id: order.id })]).toEqual([['polled'], []]);
});

test('an advance that goes back or too far is a ValidationError', async () => {
  const { clock_id } = await aClock();
  await expect(begin(clock_id, 401 * 24 * HOUR)).rejects.toMatchObject({ type: 'ValidationError' });
});
