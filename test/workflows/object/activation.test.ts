import { randomUUID } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { eventNamesOf, workflowTasksIn } from '../../../src/bench/history';
import { KINDS } from '../../../src/temporal/kinds';
import { historyToJson, replayHistories } from '../../../src/temporal/replay';
import {
  advanceClockUpdate,
  orderWorkflowId,
  processorAnswered,
  recordChanged,
  sandboxClockWorkflowId,
} from '../../../workflows/messages';
import { CARDS, MINUTE, PROJECT } from '../../support/domain';
import { runProcessor } from '../../support/processor';
import { startReceiver } from '../../support/servers';
import { setUp } from '../../support/set-up';
import { createWorkflowEnvironment, workflowBundle } from '../../support/temporal';
import { until } from '../../support/waits';
import { createAnOrder } from '../../support/workflow-orders';

let delay: (activity: string) => Promise<unknown> = async () => undefined;
/** Whether the processor still works on captures when it answers. */
let capturesAreOpen = false;
const processor = runProcessor();
const receiver = setUp(startReceiver);
const world = setUp(() =>
  createWorkflowEnvironment({
    webhook_url: receiver.url,
    services: {
      processor: {
        ...processor,
        async execute(...call) {
          const answer = await processor.execute(...call);
          const isOpen = capturesAreOpen && call[0].operation === 'capture' && typeof answer === 'object';
          return isOpen && 'idempotency_key' in answer ? { ...answer, result: 'processing' } : answer;
        },
      },
    },
    // The worker forgets a workflow after each task, and makes the next one by its history.
    worker: { maxCachedWorkflows: 0 },
    afterActivity: async (activity) => {
      await delay(activity);
    },
  }),
);
jest.setTimeout(120_000);
afterAll(() => processor.close());

const handleOf = (workflow_id: string) => world.env.client.workflow.getHandle(workflow_id);
const tasksOf = async (workflow_id: string) => workflowTasksIn(await eventNamesOf(world.env.client, workflow_id));

/** The next run of the activity outlasts its workflow task. Returns whether it has begun. */
function outlastsItsTask(activity: string, workflow_id: string): () => boolean {
  let runs = 0;
  delay = async (name) => {
    if (name !== activity) return;
    runs += 1;
    if (runs > 1) return;
    const before = await tasksOf(workflow_id);
    await until('its workflow task is done', async () => (await tasksOf(workflow_id)) > before);
  };
  return () => runs > 0;
}

async function expectToReplay(workflow_id: string): Promise<void> {
  delay = async () => undefined;
  const history = historyToJson(await handleOf(workflow_id).fetchHistory());
  expect(await replayHistories(await workflowBundle(), [{ name: workflow_id, history }])).toEqual({});
}

/**
 * A worker is lost while a local activity outlasts its workflow task. The next one gets all that came before and
 * after the end of that task in one activation; a replay of the same history gets it in two.
 */
describe('rules 24.11: what comes while its worker is lost during a local activity replays', () => {
  test.each([1, 2])('an order that is told %i times of a change and is captured', async (times) => {
    // With an open webhook each reading of the record has another activity as its consequence.
    receiver.answer((response) => response.writeHead(500).end());
    const order = await createAnOrder(world, {
      card_number: CARDS.approved.number,
      capture_mode: 'manual',
      task_timeout_ms: 2_000,
    });
    const { workflowId } = order.handle;
    // A task without consequences, so that the next task's events are the first ones after it.
    const created = await tasksOf(workflowId);
    await order.handle.signal(processorAnswered);
    await until('a workflow task is done', async () => (await tasksOf(workflowId)) > created);
    const isReading = outlastsItsTask('readOrder', workflowId);
    for (let n = 0; n < times; n += 1) {
      await order.handle.signal(recordChanged);
      await until('the order reads its record', async () => isReading());
    }
    await order.follow('capture', 300);
    await expectToReplay(workflowId);
  });

  test('a capture that the processor notifies while it is executed', async () => {
    const order = await createAnOrder(world, { card_number: CARDS.approved.number, capture_mode: 'manual' });
    const id = uuidv7();
    const workflow_id = orderWorkflowId(id);
    capturesAreOpen = true;
    const isExecuting = outlastsItsTask('executeFollowUp', workflow_id);
    const captured = order.follow('capture', 300, { id });
    await until('the capture is executed', async () => isExecuting());
    await handleOf(workflow_id).signal(processorAnswered);
    await captured;
    capturesAreOpen = false;
    await expectToReplay(workflow_id);
  });

  test('an order whose workflow was lost, whose request to create it is repeated', async () => {
    const order = await createAnOrder(world);
    const { workflowId } = order.handle;
    await order.handle.terminate('lost');
    const isReading = outlastsItsTask('readOrder', workflowId);
    await world.env.client.workflow.signalWithStart(KINDS.order.type, {
      ...KINDS.order.start({ order_id: order.id, project_id: PROJECT.id }),
      workflowTaskTimeout: '2 seconds',
      signal: recordChanged,
    });
    await until('the order reads its record', async () => isReading());
    await createAnOrder(world, { id: order.id });
    await expectToReplay(workflowId);
  });

  test('a sandbox clock that continues what was lost, and is advanced', async () => {
    const { id: clock_id } = await createAnOrder(world);
    const workflow_id = sandboxClockWorkflowId(clock_id);
    const isLooking = outlastsItsTask('unfinishedClockAdvances', workflow_id);
    await world.env.client.workflow.start(KINDS.sandbox_clock.type, {
      ...KINDS.sandbox_clock.start({ clock_id, project_id: PROJECT.id }),
      workflowTaskTimeout: '2 seconds',
    });
    await until('it looks for unfinished advances', async () => isLooking());
    const request = { request_id: randomUUID(), advance: { advance_ms: 60 * MINUTE } };
    await handleOf(workflow_id).executeUpdate(advanceClockUpdate, { args: [request] });
    await expectToReplay(workflow_id);
  });
});
