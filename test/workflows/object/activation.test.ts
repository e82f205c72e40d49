import { eventNamesOf, workflowTasksIn } from '../../../src/bench/history';
import { historyToJson, replayHistories } from '../../../src/temporal/replay';
import { processorAnswered, recordChanged } from '../../../workflows/messages';
import { CARDS } from '../../support/domain';
import { startReceiver } from '../../support/servers';
import { setUp } from '../../support/set-up';
import { createWorkflowEnvironment, workflowBundle } from '../../support/temporal';
import { until } from '../../support/waits';
import { createAnOrder } from '../../support/workflow-orders';

let delay: (activity: string) => Promise<unknown> = async () => undefined;
const receiver = setUp(startReceiver);
const world = setUp(() =>
  createWorkflowEnvironment({
    webhook_url: receiver.url,
    // In real time: a task that is lost ends after its two seconds.
    namespace: 'activation',
    // The worker forgets a workflow after each task, and makes the next one by its history.
    worker: { maxCachedWorkflows: 0 },
    afterActivity: async (activity) => {
      await delay(activity);
    },
  }),
);
jest.setTimeout(120_000);

/**
 * The worker loses a workflow while a local activity outlasts its workflow task. The next one gets what came before
 * and after the end of that task in one activation; a replay of the same history gets it in two.
 */
describe('rules 24.11: what comes while its worker is lost during a local activity replays', () => {
  test.each([1, 2])('an order that is told %i times of a change and captured', async (times) => {
    // With an open webhook each reading of the record has another activity as its consequence.
    receiver.answer((response) => response.writeHead(500).end());
    const order = await createAnOrder(world, {
      card_number: CARDS.approved.number,
      capture_mode: 'manual',
      task_timeout_ms: 2_000,
    });
    const tasks = async () => workflowTasksIn(await eventNamesOf(world.env.client, order.handle.workflowId));
    const tasksExceed = async (count: number) =>
      await until('a workflow task is done', async () => (await tasks()) > count);

    // A task without consequences, so that the next task's events are the first ones after it.
    const created = await tasks();
    await order.handle.signal(processorAnswered);
    await tasksExceed(created);
    const before = await tasks();
    let readings = 0;
    delay = async (activity) => {
      if (activity !== 'readOrder') return;
      readings += 1;
      if (readings === 1) await tasksExceed(before);
    };
    await order.handle.signal(recordChanged);
    await until('the order reads its record', async () => readings === 1);
    const captured = order.follow('capture', 300);
    if (times > 1) {
      await tasksExceed(before);
      await order.handle.signal(recordChanged);
    }
    await captured;
    delay = async () => undefined;

    const history = historyToJson(await order.handle.fetchHistory());
    expect(await replayHistories(await workflowBundle(), [{ name: order.id, history }])).toEqual({});
  });
});
