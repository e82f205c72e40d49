import { SANDBOX_CLOCK_TASK_QUEUE, TASK_QUEUE, WEBHOOK_TASK_QUEUE } from '../../../workflows/messages';
import { startProcess, type TestProcess } from '../../support/process';
import { stack } from '../../support/stack';
import { temporalOf } from '../../support/temporal-client';
import { until } from '../../support/waits';

const client = temporalOf();
const running: TestProcess[] = [];
// With SIGTERM: workflows of other files would wait for the sticky queue of a killed worker.
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop('SIGTERM');
});
afterAll(() => client.connection.close());

/** TASK_QUEUE_TYPE_WORKFLOW and TASK_QUEUE_TYPE_ACTIVITY. */
const TYPES = [1, 2];

/** Whether the process polls a queue. */
async function polls(pid: number, name: string): Promise<boolean> {
  const { namespace } = client.options;
  const described = await Promise.all(
    TYPES.map((taskQueueType) =>
      client.workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType }),
    ),
  );
  return described.some(({ pollers }) => pollers?.some(({ identity }) => identity?.startsWith(`${pid}@`)) ?? false);
}

const ALL = [TASK_QUEUE, SANDBOX_CLOCK_TASK_QUEUE, WEBHOOK_TASK_QUEUE];
const QUEUES = {
  payments: [TASK_QUEUE, SANDBOX_CLOCK_TASK_QUEUE],
  keeper: [],
  webhooks: [WEBHOOK_TASK_QUEUE],
};

test('rules 24.20: a worker polls the queues of its roles and no other', async () => {
  const start = async (WORKER_ROLES: keyof typeof QUEUES) => {
    const worker = await startProcess('worker', { env: { WORKER_ROLES } });
    running.push(worker);
    return { roles: WORKER_ROLES, pid: worker.pid };
  };
  // The keeper first: once the others are seen to poll, it would be seen too.
  const workers = [await start('keeper'), ...(await Promise.all([start('payments'), start('webhooks')]))];
  for (const { roles, pid } of workers) {
    for (const queue of QUEUES[roles]) await until(`it polls ${queue}`, () => polls(pid, queue));
  }
  for (const { roles, pid } of workers) {
    const polled = await Promise.all(ALL.map(async (queue) => ((await polls(pid, queue)) ? [queue] : [])));
    expect([roles, polled.flat()]).toEqual([roles, QUEUES[roles]]);
  }
});

test.each(ALL)('rules 24.20: a worker without WORKER_ROLES polls the queues of all roles: %s', async (queue) => {
  await until('it polls', () => polls(stack().pids['worker']!, queue));
});
