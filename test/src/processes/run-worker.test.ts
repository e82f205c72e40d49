import { SANDBOX_CLOCK_TASK_QUEUE, TASK_QUEUE, WEBHOOK_TASK_QUEUE } from '../../../workflows/messages';
import { startProcess, type TestProcess } from '../../support/process';
import { temporalOf } from '../../support/temporal-client';
import { until } from '../../support/waits';

const client = temporalOf();
const running: TestProcess[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});
afterAll(() => client.connection.close());

/** TASK_QUEUE_TYPE_WORKFLOW and TASK_QUEUE_TYPE_ACTIVITY. */
const TYPES = [1, 2];

/** Whether the process polls a queue. */
async function polls({ pid }: TestProcess, name: string): Promise<boolean> {
  const { namespace } = client.options;
  const described = await Promise.all(
    TYPES.map((taskQueueType) =>
      client.workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType }),
    ),
  );
  return described.some(({ pollers }) => pollers?.some(({ identity }) => identity?.startsWith(`${pid}@`)) ?? false);
}

test.each([
  ['payments', [TASK_QUEUE, SANDBOX_CLOCK_TASK_QUEUE]],
  ['webhooks', [WEBHOOK_TASK_QUEUE]],
  ['keeper', []],
  ['webhooks,keeper,payments', [TASK_QUEUE, SANDBOX_CLOCK_TASK_QUEUE, WEBHOOK_TASK_QUEUE]],
])('rules 24.20: a worker with the roles %s polls their queues and no other', async (roles, queues) => {
  const worker = await startProcess('worker', { env: { WORKER_ROLES: roles } });
  running.push(worker);
  for (const queue of queues) await until(`it polls ${queue}`, () => polls(worker, queue));
  const all = [TASK_QUEUE, SANDBOX_CLOCK_TASK_QUEUE, WEBHOOK_TASK_QUEUE];
  const polled = await Promise.all(all.map(async (queue) => ((await polls(worker, queue)) ? [queue] : [])));
  expect(polled.flat().toSorted()).toEqual(queues.toSorted());
});
