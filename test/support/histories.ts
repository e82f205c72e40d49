import { temporal } from '@temporalio/proto';
import { stack, type RunningStack } from './stack';
import { temporalOf } from './temporal-client';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;

const nameOf = ({ eventType }: HistoryEvent) =>
  String(typeof eventType === 'number' ? temporal.api.enums.v1.EventType[eventType] : eventType).replace(
    'EVENT_TYPE_',
    '',
  );

/** Names of the events of a workflow on the run's stack, oldest first, once it is over; `open`: as they are now. */
export async function eventsOf(
  workflow_id: string,
  { open = false, place = stack() }: { open?: boolean; place?: RunningStack } = {},
): Promise<string[]> {
  const client = temporalOf(place);
  try {
    const handle = client.workflow.getHandle(workflow_id);
    if (!open) await handle.result();
    const { events } = await handle.fetchHistory();
    return (events ?? []).map(nameOf);
  } finally {
    await client.connection.close();
  }
}
