import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';

/** How activities are retried: four policies, by what waits for them. Time limits in words of Temporal. */

/** Somebody waits for the answer, or the next event does: Postgres, a first charge, in the worker itself. */
export const answering = proxyLocalActivities<Activities>({
  startToCloseTimeout: '9 seconds',
  localRetryThreshold: '20 seconds',
  retry: { initialInterval: '100 milliseconds', maximumInterval: '2 seconds' },
});

/** Asks another company until it answers, visible to the operator. */
export const asking = proxyActivities<Activities>({
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/** Tries a webhook once: what follows a failure is the schedule of the specification, not a retry of Temporal. */
export const delivering = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});
