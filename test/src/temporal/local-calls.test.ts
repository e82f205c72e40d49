import { PROCESSOR_CALLS } from '../../../activities';
import { activityCauses } from '../../../src/temporal/activity-causes';
import { limitLocalCalls } from '../../../src/temporal/local-calls';
import { historyToJson, replayHistories } from '../../../src/temporal/replay';
import { CARDS } from '../../support/domain';
import { readLedger } from '../../support/ledger';
import { setUp } from '../../support/set-up';
import { runProcessor } from '../../support/processor';
import { createWorkflowEnvironment, workflowBundle } from '../../support/temporal';
import { until } from '../../support/waits';
import { createAnOrder } from '../../support/workflow-orders';

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
