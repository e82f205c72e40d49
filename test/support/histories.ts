import { eventNamesOf } from '../../src/bench/history';
import { stack, type RunningStack } from './stack';
import { temporalOf } from './temporal-client';

/** Names of the events of a workflow on the run's stack, oldest first, once it has closed; `open`: as they are now. */
export async function eventsOf(
  workflow_id: string,
  { open = false, place = stack() }: { open?: boolean; place?: RunningStack } = {},
): Promise<string[]> {
  const client = temporalOf(place);
  try {
    if (!open) await client.workflow.getHandle(workflow_id).result();
    return await eventNamesOf(client, workflow_id);
  } finally {
    await client.connection.close();
  }
}
