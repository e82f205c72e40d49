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
