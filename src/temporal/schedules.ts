import { ScheduleAlreadyRunning, ScheduleNotFoundError, type Client, type ScheduleOptions } from '@temporalio/client';
import {
  AUDIT_WORKFLOW,
  SEARCH_INDEX_CHECK_WORKFLOW,
  SETTLEMENTS_WORKFLOW,
  TASK_QUEUE,
} from '../../workflows/messages';
import { unavailable } from './call-errors';

const SETTLEMENTS = 'settlements';

/** The schedules in Temporal, in UTC. Temporal catches up on a run missed in an outage for up to a day. */
const SCHEDULES = [
  {
    scheduleId: 'search-index-check',
    spec: { calendars: [{ hour: 3, comment: 'daily' }], jitter: '10 minutes' },
    action: {
      type: 'startWorkflow',
      workflowType: SEARCH_INDEX_CHECK_WORKFLOW,
      workflowId: 'search-index-check',
      taskQueue: TASK_QUEUE,
      staticSummary: 'Compares the search index with the record',
    },
    policies: { overlap: 'SKIP', catchupWindow: '1 day' },
  },
  {
    scheduleId: SETTLEMENTS,
    spec: { intervals: [{ every: '1 hour' }] },
    action: {
      type: 'startWorkflow',
      workflowType: SETTLEMENTS_WORKFLOW,
      workflowId: 'settlements',
      taskQueue: TASK_QUEUE,
      staticSummary: 'Fetches settlements from the processor',
    },
    policies: { overlap: 'SKIP', catchupWindow: '1 day' },
  },
  {
    scheduleId: 'audit',
    spec: { intervals: [{ every: '1 hour', offset: '20 minutes' }] },
    action: {
      type: 'startWorkflow',
      workflowType: AUDIT_WORKFLOW,
      workflowId: 'audit',
      taskQueue: TASK_QUEUE,
      staticSummary: 'Compares the record with the processor and the search index',
    },
    policies: { overlap: 'SKIP', catchupWindow: '1 day' },
  },
] as const satisfies readonly ScheduleOptions[];

/** Time limit for all schedules together. Milliseconds. */
const CALL_MS = 10_000;

/**
 * Creates or updates the schedules; one that an operator has paused stays paused. Safe in several processes at once.
 */
export async function makeSchedules(client: Client): Promise<void> {
  await client.withDeadline(Date.now() + CALL_MS, async () => {
    for (const schedule of SCHEDULES) {
      const { scheduleId, ...wanted } = schedule;
      try {
        await client.schedule.create(schedule);
      } catch (error) {
        if (!(error instanceof ScheduleAlreadyRunning)) throw error;
        await client.schedule.getHandle(scheduleId).update(({ state }) => ({ ...wanted, state }));
      }
    }
  });
}

/**
 * Has settlements fetched now. A fetch that is running may have started too early, so another one follows it. Throws
 * ServiceUnavailable while no worker has created the schedule.
 */
export async function fetchSettlementsNow(client: Client): Promise<void> {
  try {
    await client.schedule.getHandle(SETTLEMENTS).trigger('BUFFER_ONE');
  } catch (error) {
    throw error instanceof ScheduleNotFoundError ? unavailable() : error;
  }
}
