import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';

/** Names of the events in a workflow's history, oldest first, for example `TIMER_STARTED`. */
export async function eventNamesOf(client: Client, workflow_id: string): Promise<string[]> {
  const { events } = await client.workflow.getHandle(workflow_id).fetchHistory();
  return (events ?? []).map(({ eventType }) =>
    String(temporal.api.enums.v1.EventType[Number(eventType)]).slice(PREFIX.length),
  );
}

const PREFIX = 'EVENT_TYPE_';

/** How many workflow tasks a history has, by its event names. */
export const workflowTasksIn = (names: readonly string[]) =>
  names.filter((name) => name === 'WORKFLOW_TASK_COMPLETED').length;

const ACTIONS = new Set([
  'WORKFLOW_EXECUTION_STARTED',
  'WORKFLOW_EXECUTION_UPDATE_ACCEPTED',
  'WORKFLOW_EXECUTION_SIGNALED',
  'TIMER_STARTED',
  'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES',
  'ACTIVITY_TASK_STARTED',
]);

/**
 * How many actions Temporal Cloud bills for a history: its local activities (markers) are one for each workflow task.
 */
export const actionsIn = (names: readonly string[]) =>
  names.filter((name, n) => ACTIONS.has(name) || (name === MARKER && lastOf(names.slice(0, n)) !== MARKER)).length;

const MARKER = 'MARKER_RECORDED';
const TASK = 'WORKFLOW_TASK_COMPLETED';

/** The last marker, unless a workflow task ended after it. */
const lastOf = (names: readonly string[]) => names.findLast((name) => name === MARKER || name === TASK);
