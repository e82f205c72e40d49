import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { SANDBOX_CLOCK_TASK_QUEUE, TASK_QUEUE, WEBHOOK_TASK_QUEUE } from '../../workflows/messages';

/** The task queues of all workflows. */
const TASK_QUEUES = [TASK_QUEUE, WEBHOOK_TASK_QUEUE, SANDBOX_CLOCK_TASK_QUEUE] as const;
export type TaskQueue = (typeof TASK_QUEUES)[number];

/** A poller that has not asked for this long is gone. Longer than a long poll of Temporal. Milliseconds. */
const RECENT_MS = 120_000;

/**
 * The numbers of workers that poll for workflow tasks, by build id, and the task queues that none polls. Rejects when
 * Temporal does not answer.
 */
export async function findWorkers(
  client: Client,
  now: number,
): Promise<{ builds: Map<string, number>; unpolled: TaskQueue[] }> {
  const builds = new Map<string, Set<string>>();
  const unpolled: TaskQueue[] = [];
  for (const queue of TASK_QUEUES) {
    const { pollers } = await describeTaskQueue(client, queue);
    const recent = (pollers ?? []).filter(
      ({ lastAccessTime }) => now - Number(lastAccessTime?.seconds ?? 0) * 1_000 <= RECENT_MS,
    );
    if (recent.length === 0) unpolled.push(queue);
    for (const { identity, workerVersionCapabilities, deploymentOptions } of recent) {
      const build = deploymentOptions?.buildId || workerVersionCapabilities?.buildId || 'unknown';
      // A worker has the same identity in each of its queues.
      builds.set(build, (builds.get(build) ?? new Set()).add(identity ?? ''));
    }
  }
  return { builds: new Map([...builds].map(([build, workers]) => [build, workers.size])), unpolled };
}

/** How many workflow tasks of payments wait for a worker, about. Rejects when Temporal does not answer. */
export async function countWaitingTasks(client: Client): Promise<number> {
  const { stats } = await describeTaskQueue(client, TASK_QUEUE);
  return Number(stats?.approximateBacklogCount ?? 0);
}

/** A task queue of workflows, with its workers and its waiting tasks. */
async function describeTaskQueue(client: Client, name: TaskQueue) {
  return await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name },
    taskQueueType: temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    reportStats: true,
  });
}
