import { historyToJson, replayHistories } from '../../../src/temporal/replay';
import { ObjectClock } from '../../../workflows/object/clock';
import { processorAnswered } from '../../../workflows/messages';
import { Waits } from '../../../workflows/object/wait';
import { CARDS } from '../../support/domain';
import { startReceiver } from '../../support/servers';
import { setUp } from '../../support/set-up';
import { createWorkflowEnvironment, workflowBundle } from '../../support/temporal';
import { inTheLastSecond, sleepUntil, TIMERS, until, type TimerName } from '../../support/waits';
import {
  answerAtIssuer,
  createALink,
  createAnOrder,
  moneySummaryOf,
  statusesOfOrder,
  vaultToken,
  type TestOrder,
} from '../../support/workflow-orders';

/** Timers a second before their end, at it and after it, while Temporal's time passes. */
const receiver = setUp(startReceiver);
let afterActivity: (activity: string) => Promise<void>;
const world = setUp(() =>
  createWorkflowEnvironment({
    webhook_url: receiver.url,
    afterActivity: async (activity) => {
      await afterActivity(activity);
    },
  }),
);
jest.setTimeout(180_000);
beforeEach(() => {
  afterActivity = async () => undefined;
});

interface Subject {
  due: number;
  see: () => Promise<string>;
}

const SUBJECTS: Record<TimerName, () => Promise<Subject>> = {
  'rules 6.7: a customer who never finishes 3-D Secure': async () => {
    const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
    const { expires_at } = (await order.view()).transactions[0]!;
    return { due: Date.parse(expires_at!), see: () => statusesOfOrder(order) };
  },
  'the last question about a late approval': async () => {
    const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
    await order.cancel();
    await answerAtIssuer(order, { action: 'cancel' });
    const transaction_id = (await order.view()).transactions[0]!.id;
    const watch = async () =>
      (await world.database.db('late_approval_watches').where({ transaction_id }).first()) as
        { poll_at: string } | undefined;
    return {
      due: Date.parse((await watch())!.poll_at),
      see: async () => ((await watch()) === undefined ? 'not watched' : 'watched'),
    };
  },
  'the end of a payment link': async () => {
    const link = await createALink(world);
    return { due: Date.parse((await link.view()).expires_at), see: async () => (await link.view()).status };
  },
  'the end of an order of a payment link': async () => {
    const link = await createALink(world);
    const { expires_at } = await link.pay(CARDS.challenge.number);
    return { due: Date.parse(expires_at!), see: async () => (await link.view()).status };
  },
};

test.each(Object.keys(TIMERS) as TimerName[])('%s', async (name) => {
  const { before, after } = TIMERS[name];
  const { subject, answer } = await inTheLastSecond(world, {
    create: SUBJECTS[name],
    end: async ({ due }) => due,
    act: ({ see }) => see(),
  });
  expect(answer).toBe(before);
  await sleepUntil(world, subject.due);
  await until(`it is ${after}`, async () => (await subject.see()) === after);
  await sleepUntil(world, subject.due + 1_000);
  expect(await subject.see()).toBe(after);
});

test('a wait that is interrupted keeps its timer: captures do not start the one of the window anew', async () => {
  const order = await createAnOrder(world, { card_number: CARDS.approved.number, capture_mode: 'manual' });
  await order.follow('capture', 100);
  await order.handle.signal(processorAnswered);
  await order.follow('capture');
  expect(await order.handle.result()).toBe('completed');
  const { events } = await order.handle.fetchHistory();
  expect(events!.filter(({ timerStartedEventAttributes }) => timerStartedEventAttributes)).toHaveLength(1);
  expect(events!.filter(({ timerCanceledEventAttributes }) => timerCanceledEventAttributes)).toHaveLength(0);
  expect(await moneySummaryOf(order)).toContain('500 captured');
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
  const order = await createAnOrder(world, { task_timeout_ms: 2_000 });
  const end = Date.parse((await order.view()).expires_at!);
  const declined = await vaultToken(world, CARDS.do_not_honor.number);
  const approved = await vaultToken(world, CARDS.approved.number);
  let paid: Promise<void> | undefined;
  await sleepUntil(world, end - 4_000);
  afterActivity = async (activity) => {
    if (activity !== 'startDeliveries' || paid !== undefined) return;
    paid = order.pay('', 2, approved);
    // Within the nine seconds of a local activity. The next workflow task, which takes the payment, comes after 1.6.
    await until('the order is past its end', async () => (await world.now()) > end);
  };
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

test.each([Number.NaN, Infinity, 'x', undefined])(
  'rules 24.11: a wait until %p fails instead of looping',
  async (at) => {
    const waits = new Waits(new ObjectClock());
    await expect(waits.until({ at: at as number, summary: 'until then' }, () => false)).rejects.toThrow(RangeError);
  },
);
