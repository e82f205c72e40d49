import { ScheduleAlreadyRunning, type Client, type ScheduleOptions } from '@temporalio/client';
import { SEARCH_INDEX_CHECK_WORKFLOW, TASK_QUEUE } from '../../workflows/messages';

/** What Temporal starts by the clock, in UTC. A run that an outage of Temporal delayed is made up for within a day. */
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
] as const satisfies readonly ScheduleOptions[];

/** Milliseconds for all schedules together. */
const CALL_MS = 10_000;

/**
 * Makes the schedules, or brings those that exist up to date; one that an operator has paused stays paused. Any number of processes may
 * do it at once.
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
