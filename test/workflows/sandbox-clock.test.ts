import { setTimeout as sleep } from 'node:timers/promises';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { KINDS, startOptions } from '../../src/temporal/kinds';
import { historyToJson, replayHistories } from '../../src/temporal/replay';
import { createWorkflowClients } from '../../src/temporal/workflows';
import { SANDBOX_CLOCK_TASK_QUEUE, advanceClockUpdate, sandboxClockWorkflowId } from '../../workflows/messages';
import { MINUTE, PROJECT } from '../support/domain';
import { setUp } from '../support/set-up';
import { createWorkflowEnvironment, workerClient, workflowBundle } from '../support/temporal';
import { until } from '../support/waits';
import { createAnOrder, statusesOfOrder } from '../support/workflow-orders';

let delay: (activity: string) => Promise<unknown> = async () => undefined;
const world = setUp(() =>
  createWorkflowEnvironment({
    namespace: 'sandbox-clock',
    queues: [SANDBOX_CLOCK_TASK_QUEUE],
    afterActivity: async (activity) => {
      await delay(activity);
    },
  }),
);
jest.setTimeout(120_000);

const DAY = 24 * 60 * MINUTE;

test('an advance that was lost is carried on from the record', async () => {
  const order = await createAnOrder(world);
  const { database } = world;
  const now = new Date(await world.now());
  await database.db('sandbox_clocks').insert({ id: order.id, project_id: PROJECT.id, modified: now });
  await database.db('sandbox_clock_advances').insert({
    clock_id: order.id,
    n: 1,
    request_id: 'lost',
    from_offset_ms: 0,
    to_offset_ms: DAY,
    started: now,
  });
  await order.handle.terminate('lost');
  const { sandbox_clocks } = createWorkflowClients({ client: world.env.client, db: database.db });
  await sandbox_clocks.start({ clock_id: order.id, project_id: PROJECT.id });
  await world.env.client.workflow.getHandle(sandboxClockWorkflowId(order.id)).result();
  expect([await statusesOfOrder(order), (await order.view()).clock_offset_ms]).toEqual(['expired:', DAY]);
});

/** A second workflow task begins during the activity, and brings the end of the wait for the answer. */
test('rules 24.11: an advance that is answered while a local activity runs replays', async () => {
  const order = await createAnOrder(world);
  const handle = world.env.client.workflow.getHandle(sandboxClockWorkflowId(order.id));
  delay = async (activity) => {
    // An activity may take nine seconds, and the answer comes after nine and a half: this one takes a part of them.
    if (activity === 'unfinishedClockAdvances') await sleep(5_000);
    if (activity !== 'beginClockAdvance') return;
    await until('the workflow task with the end of the wait has begun', async () => {
      const events = (await handle.fetchHistory()).events!;
      const fired = events.findIndex(({ timerFiredEventAttributes: timer }) => timer != null);
      return fired !== -1 && events.some((event, n) => n > fired && event.workflowTaskStartedEventAttributes != null);
    });
  };
  await workerClient(world.env).workflow.executeUpdateWithStart(advanceClockUpdate, {
    startWorkflowOperation: new WithStartWorkflowOperation(KINDS.sandbox_clock.type, {
      ...startOptions(KINDS.sandbox_clock, { clock_id: order.id, project_id: PROJECT.id }),
      workflowIdConflictPolicy: 'FAIL',
      workflowTaskTimeout: 2_000,
    }),
    args: [{ request_id: 'slow', advance: { advance_ms: DAY } }],
  });
  await handle.result();
  delay = async () => undefined;
  expect(await statusesOfOrder(order)).toBe('expired:');
  const history = historyToJson(await handle.fetchHistory());
  expect(await replayHistories(await workflowBundle(), [{ name: order.id, history }])).toEqual({});
});
