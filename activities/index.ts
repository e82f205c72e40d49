import type { Services } from './services';
import { followUpActivities } from './follow-ups';
import { processorActivities } from './processor';
import { recordActivities } from './records';
import { webhookActivities } from './webhooks';

/** Everything workflows can ask for, by the system it touches. All of it is safe to repeat. */
export function createActivities(services: Services) {
  return { ...recordActivities(services), ...processorActivities(services), ...webhookActivities(services), ...followUpActivities(services) };
}

export type Activities = ReturnType<typeof createActivities>;
