import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { TASK_QUEUE } from '../../workflows/messages';

/** A poller that has not asked for this long is gone. Longer than a long poll of Temporal. Milliseconds. */
const RECENT_MS = 120_000;

/**
 * The numbers of workers that poll for workflow tasks of payments, by build id. Rejects when Temporal does not answer.
 */
export async function findWorkerBuilds(client: Client, now: number): Promise<Map<string, number>> {
  const { pollers } = await describePaymentsQueue(client);
  const builds = new Map<string, Set<string>>();
  for (const { identity, lastAccessTime, workerVersionCapabilities, deploymentOptions } of pollers ?? []) {
    if (now - Number(lastAccessTime?.seconds ?? 0) * 1_000 > RECENT_MS) continue;
    const build = deploymentOptions?.buildId || workerVersionCapabilities?.buildId || 'unknown';
    builds.set(build, (builds.get(build) ?? new Set()).add(identity ?? ''));
  }
  return new Map([...builds].map(([build, workers]) => [build, workers.size]));
}

/** How many workflow tasks of payments wait for a worker, about. Rejects when Temporal does not answer. */
export async function countWaitingTasks(client: Client): Promise<number> {
  const { stats } = await describePaymentsQueue(client);
  return Number(stats?.approximateBacklogCount ?? 0);
}

/** The task queue of the workflows of payments, with its workers and its waiting tasks. */
async function describePaymentsQueue(client: Client) {
  return await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: TASK_QUEUE },
    taskQueueType: temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    reportStats: true,
  });
}
