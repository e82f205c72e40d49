import { Worker, type WorkerDeploymentOptions, type WorkerOptions } from '@temporalio/worker';
import { PROCESSOR_CALLS, createActivities } from '../../activities/index';
import type { ActivityServices } from '../../activities/services';
import { SANDBOX_CLOCK_TASK_QUEUE, TASK_QUEUE, WEBHOOK_TASK_QUEUE } from '../../workflows/messages';
import { STOP_LIMITS_MS, type Config, type WorkerRole } from '../config';
import type { Build } from '../db/builds/current-build';
import type { Logger } from '../log';
import { activityCauses } from '../temporal/activity-causes';
import { limitLocalCalls } from '../temporal/local-calls';
import type { TaskQueue } from '../temporal/task-queues';
import { ATTEMPT_TASKS_AT_ONCE } from '../webhook/attempt-limits';

/** Workflow tasks of orders, follow-ups and payment links for which a worker has slots, however slow the processor is. */
const OTHER_TASKS_AT_ONCE = 50;

/** The slots of a worker of each task queue, and the role that polls it. */
function queuesOf({
  CHARGES_AT_ONCE,
}: Config): readonly { role: WorkerRole; options: Partial<WorkerOptions> & { taskQueue: TaskQueue } }[] {
  const workflow_tasks = CHARGES_AT_ONCE + OTHER_TASKS_AT_ONCE;
  return [
    {
      role: 'payments',
      options: {
        taskQueue: TASK_QUEUE,
        // A slot is held during a charge, which is mostly waiting.
        maxConcurrentWorkflowTaskExecutions: workflow_tasks,
        // Each of these tasks runs one at a time.
        maxConcurrentLocalActivityExecutions: workflow_tasks,
        // Polls of the processor, and calls of it beyond CHARGES_AT_ONCE.
        maxConcurrentActivityTaskExecutions: 500,
        maxCachedWorkflows: 1_000,
      },
    },
    {
      role: 'webhooks',
      options: {
        taskQueue: WEBHOOK_TASK_QUEUE,
        maxConcurrentWorkflowTaskExecutions: 100,
        maxConcurrentActivityTaskExecutions: ATTEMPT_TASKS_AT_ONCE,
        maxCachedWorkflows: 200,
      },
    },
    {
      role: 'payments',
      // Advances of sandbox clocks read many rows: only a few run at a time, to leave connections and CPU to payments.
      options: {
        taskQueue: SANDBOX_CLOCK_TASK_QUEUE,
        maxConcurrentWorkflowTaskExecutions: 4,
        maxConcurrentActivityTaskExecutions: 4,
        maxConcurrentLocalActivityExecutions: 4,
        maxCachedWorkflows: 100,
      },
    },
  ];
}

/** A worker for each task queue of the roles of this process. */
export async function createWorkers(
  config: Config,
  polled: Pick<WorkerOptions, 'connection' | 'namespace' | 'dataConverter'>,
  bundle_path: string,
  build: Build,
  services: ActivityServices,
): Promise<Worker[]> {
  const shared = {
    ...polled,
    workflowBundle: { codePath: bundle_path },
    workerDeploymentOptions: deploymentOptions(config, build),
    activities: createActivities(services),
    interceptors: { activity: [activityCauses, limitLocalCalls(PROCESSOR_CALLS, config.CHARGES_AT_ONCE)] },
    // A killed worker still owns its workflows' queues: after this long another takes them.
    stickyQueueScheduleToStartTimeout: '5 seconds',
    shutdownGraceTime: '5 seconds',
    // Another worker repeats what was not finished by then: every step is safe to repeat.
    shutdownForceTime: STOP_LIMITS_MS.activities,
  } satisfies Partial<WorkerOptions>;
  const queues = queuesOf(config).filter(({ role }) => config.WORKER_ROLES.includes(role));
  const workers: Worker[] = [];
  // One after the other: only the threads of the first start at once (useWorkflowThreads), and payments come first.
  for (const { options } of queues) workers.push(await Worker.create({ ...shared, ...options }));
  return workers;
}

/** With versioning a workflow stays on the version that began it, unless its code says otherwise (rules 24.21). */
function deploymentOptions(config: Config, { build, version }: Build): WorkerDeploymentOptions {
  const deploymentName = config.TEMPORAL_DEPLOYMENT_NAME;
  return config.DEPLOYMENT_VERSIONING !== 'off'
    ? {
        version: { deploymentName, buildId: version },
        useWorkerVersioning: true,
        defaultVersioningBehavior: 'PINNED',
      }
    : // Shown with its polls, for doctor. Tasks go to the workers of any build.
      { version: { deploymentName, buildId: build }, useWorkerVersioning: false };
}

/** Runs workers until `stop`. One that fails for good before ends the process: the supervisor starts another. */
export function runUntilStopped(workers: readonly Worker[], log: Logger): { stop(): Promise<void> } {
  const runs = workers.map((worker) => worker.run());
  let is_stopping = false;
  Promise.all(runs).catch((err: unknown) => {
    if (is_stopping) return;
    log.fatal({ err }, 'the worker failed');
    process.exit(1);
  });
  return {
    async stop() {
      is_stopping = true;
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      // Each alone: while one gives up its tasks, another may still need the connections.
      await Promise.all(
        runs.map((run) => run.catch((err: unknown) => log.warn({ err }, 'some tasks were not finished'))),
      );
    },
  };
}

/** Throws unless each polls its task queue. */
export function expectRunning(workers: readonly Worker[]): void {
  for (const worker of workers) {
    const state = worker.getState();
    if (state !== 'RUNNING') throw new Error(`a worker is ${state}`);
  }
}
