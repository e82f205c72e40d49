import { historyToJson, replayHistories } from '../../../src/temporal/replay';
import { ObjectClock, moveStoppedClocks, stopClocks } from '../../../workflows/object/clock';
import { CARDS } from '../../support/domain';
import { setUp } from '../../support/set-up';
import { createWorkflowEnvironment, workflowBundle } from '../../support/temporal';
import { sleepUntil, until } from '../../support/waits';
import { createAnOrder, statusesOfOrder, vaultToken, type TestOrder } from '../../support/workflow-orders';

let afterActivity: (activity: string) => Promise<void> = async () => undefined;
const world = setUp(() =>
  createWorkflowEnvironment({
    webhook_url: 'http://127.0.0.1:1',
    afterActivity: async (activity) => {
      await afterActivity(activity);
    },
  }),
);

test('the clock of an object is ahead of real time as far as it was advanced, and never goes back', () => {
  const clock = new ObjectClock();
  clock.advanceTo(1_000);
  const ahead = () => Math.round((clock.now() - Date.now()) / 100) * 100;
  expect([clock.offset_ms, ahead()]).toEqual([1_000, 1_000]);
  clock.advanceTo(5_000);
  clock.advanceTo(3_000);
  expect([clock.offset_ms, ahead()]).toEqual([5_000, 5_000]);
});

test.each(['x', Number.NaN, Infinity, 1.5, null, {}])('a clock is never advanced by %p', (offset_ms) => {
  const clock = new ObjectClock();
  expect(() => clock.advanceTo(offset_ms as number)).toThrow(RangeError);
  expect(clock.offset_ms).toBe(0);
});

test('rules 24.11: stopped clocks are moved by the end of a timer alone', () => {
  const clock = new ObjectClock();
  const startClocks = stopClocks();
  const stopped_at = clock.now();
  moveStoppedClocks(stopped_at + 5_000);
  moveStoppedClocks(stopped_at + 3_000);
  expect(clock.now()).toBe(stopped_at + 5_000);
  startClocks();
  moveStoppedClocks(stopped_at + 5_000);
  expect(clock.now()).toBeLessThan(stopped_at + 5_000);
});

/** The events of a closed order, whose history has to replay. */
async function replayedEventsOf({ handle }: TestOrder) {
  await handle.result();
  const history = await handle.fetchHistory();
  const recorded = { name: 'order', history: historyToJson(history) };
  expect(await replayHistories(await workflowBundle(), [recorded])).toEqual({});
  return history.events!;
}

/** The second payment comes in a workflow task of its own; a replay gets it together with the end of the activity. */
test('rules 24.11: a payment just before the end of its order, while a local activity outlasts that end, replays', async () => {
  const order = await createAnOrder(world, { task_timeout_ms: 5_000 });
  const end = Date.parse((await order.view()).expires_at!);
  const declined = await vaultToken(world, CARDS.do_not_honor.number);
  const approved = await vaultToken(world, CARDS.approved.number);
  let paid: Promise<void> | undefined;
  afterActivity = async (activity) => {
    if (activity !== 'startDeliveries' || paid !== undefined) return;
    paid = order.pay('', 2, approved);
    // Within the nine seconds of a local activity. The next workflow task, which takes the payment, comes after four.
    await until('the order is past its end', async () => (await world.now()) > end);
  };
  await sleepUntil(world, end - 8_000);
  await order.pay('', 1, declined);
  await paid;
  await replayedEventsOf(order);
  expect(await statusesOfOrder(order)).toBe('completed: error accepted');
});

test('rules 24.11: an order that ends while its cancellation outlasts workflow tasks starts no second timer', async () => {
  const order = await createAnOrder(world, { task_timeout_ms: 2_000 });
  const end = Date.parse((await order.view()).expires_at!);
  afterActivity = async (activity) => {
    if (activity !== 'endUnpaidOrder') return;
    await until('the workflow task with the end of the order has begun', async () => {
      const events = (await order.handle.fetchHistory()).events!;
      const fired = events.findIndex(({ timerFiredEventAttributes: timer }) => timer != null);
      return fired !== -1 && events.some((event, n) => n > fired && event.workflowTaskStartedEventAttributes != null);
    });
  };
  await sleepUntil(world, end - 3_000);
  await order.cancel();
  const events = await replayedEventsOf(order);
  expect(events.filter((event) => event.timerStartedEventAttributes != null)).toHaveLength(1);
  expect(await statusesOfOrder(order)).toBe('cancelled:');
});
