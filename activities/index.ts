import type { Services } from './services';
import { followUpActivities } from './follow-ups';
import { processorActivities } from './processor';
import { recordActivities } from './records';
import { webhookActivities } from './webhooks';

/** All activities, grouped by the system they touch. Every one is safe to repeat. */
export function createActivities(services: Services) {
  return {
    ...recordActivities(services),
    ...processorActivities(services),
    ...webhookActivities(services),
    ...followUpActivities(services),
  };
}

/** The activities as workflows see them. */
export type Activities = ReturnType<typeof createActivities>;
