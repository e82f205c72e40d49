import { v7 as uuidv7 } from 'uuid';
import { PROCESSOR_CALLS } from '../../../activities';
import { activityCauses } from '../../../src/temporal/activity-causes';
import { limitLocalCalls } from '../../../src/temporal/local-calls';
import { historyToJson, replayHistories } from '../../../src/temporal/replay';
import { orderWorkflowId, processorAnswered } from '../../../workflows/messages';
import { CARDS } from '../../support/domain';
import { readLedger } from '../../support/ledger';
import { setUp } from '../../support/set-up';
import { runProcessor } from '../../support/processor';
import { createWorkflowEnvironment, workflowBundle } from '../../support/temporal';
import { until } from '../../support/waits';
import { createAnOrder, type TestOrder } from '../../support/workflow-orders';

const ORDERS = 4;

/** The real processor, which answers charges only once all of them are in flight. */
function slowProcessor() {
  const processor = runProcessor();
  let in_flight = 0;
  return {
    ...processor,
    async execute(...call: Parameters<typeof processor.execute>) {
      in_flight += 1;
      await until('all charges are in flight', () => in_flight === ORDERS);
      return await processor.execute(...call);
    },
  };
}

const world = setUp(() =>
  createWorkflowEnvironment({
    namespace: 'local-calls',
    services: { processor: slowProcessor() },
    worker: { interceptors: { activity: [activityCauses, limitLocalCalls(PROCESSOR_CALLS, 1)] } },
  }),
);

test('rules 10.20: while a charge holds the only place inside a workflow task, others are tasks of their own', async () => {
  const orders = await Promise.all(
    Array.from({ length: ORDERS }, () => createAnOrder(world, { card_number: CARDS.approved.number })),
  );
  const histories = await Promise.all(
    orders.map(async ({ id, handle }) => ({ name: id, history: historyToJson(await handle.fetchHistory()) })),
  );
  const tasks = histories.map(({ history }) => JSON.stringify(history).split('ACTIVITY_TASK_SCHEDULED').length - 1);
  expect(tasks.toSorted((a, b) => a - b)).toEqual([0, 1, 1, 1]);
  for (const order of orders) {
    expect((await order.view()).status).toBe('completed');
    expect((await readLedger(order.id)).map(({ result }) => result)).toEqual(['approved']);
  }
  expect(await replayHistories(await workflowBundle(), histories)).toEqual({});
});

/** The real processor, which answers no poll while it is silent. `calls`: what it got, in order. */
function sometimesSilent() {
  const processor = runProcessor();
  const calls: ('charge' | 'poll')[] = [];
  let isSilent = false;
  return {
    calls,
    beSilent: (silent: boolean) => (isSilent = silent),
    processor: {
      ...processor,
      async execute(...call: Parameters<typeof processor.execute>) {
        calls.push('charge');
        return await processor.execute(...call);
      },
      async findOperation(...call: Parameters<typeof processor.findOperation>) {
        calls.push('poll');
        await until('the processor answers polls', () => !isSilent);
        return await processor.findOperation(...call);
      },
    },
  };
}

describe('a worker has a slot for one activity task', () => {
  const { calls, beSilent, processor } = sometimesSilent();
  const busy = setUp(() =>
    createWorkflowEnvironment({
      services: { processor },
      worker: {
        maxConcurrentActivityTaskExecutions: 1,
        interceptors: { activity: [activityCauses, limitLocalCalls(PROCESSOR_CALLS, 0)] },
      },
      namespace: 'busy-worker',
    }),
  );

  test('rules 10.20: a charge does not wait behind polls that were to be made before it', async () => {
    const pendingOf = async (id: string) => {
      const described = await busy.env.client.workflow
        .getHandle(orderWorkflowId(id))
        .describe()
        .catch(() => undefined);
      return (described?.raw.pendingActivities ?? []).map(({ activityType }) => activityType?.name);
    };
    const awaited: TestOrder[] = [];
    while (awaited.length < ORDERS) {
      awaited.push(await createAnOrder(busy, { card_number: CARDS.processing_approved.number }));
    }
    beSilent(true);
    for (const { id, handle } of awaited) {
      await handle.signal(processorAnswered);
      await until('its outcome is to be polled', async () => (await pendingOf(id)).includes('pollCharge'));
    }
    const id = uuidv7();
    const last = createAnOrder(busy, { id, card_number: CARDS.approved.number });
    await until('it is to be charged', async () => (await pendingOf(id)).includes('createAndCharge'));
    const before = calls.length;
    beSilent(false);
    expect((await (await last).view()).status).toBe('completed');
    await until('all outcomes were polled', () => calls.length >= before + ORDERS);
    expect(calls.slice(before, before + ORDERS)).toEqual(['charge', 'poll', 'poll', 'poll']);
  });
});
