import type { Services } from './services';
import { followUpActivities } from './follow-up';
import { orderActivities } from './order';
import { webhookActivities } from './webhooks';

/** All activities, grouped by the workflow that uses them. Every one is safe to repeat. */
export function createActivities(services: Services) {
  return {
    ...orderActivities(services),
    ...webhookActivities(services),
    ...followUpActivities(services),
  };
}

/** The activities as workflows see them. */
export type Activities = ReturnType<typeof createActivities>;
