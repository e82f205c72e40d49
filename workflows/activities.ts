import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';

/** Retry policies, by what waits for the activity. Each offers only what it is meant for. */

/**
 * Local activities: a request of the API, or the next step, waits for Postgres or for the first answer of the processor. A pause
 * longer than the threshold becomes a timer: an outage must hold no slot of the worker.
 */
export const answering = proxyLocalActivities<Omit<Activities, 'askOutcome' | 'askFollowUp'>>({
  startToCloseTimeout: '9 seconds',
  localRetryThreshold: '2 seconds',
  retry: { initialInterval: '100 milliseconds', maximumInterval: '5 seconds' },
});

/** Asks another company until it answers, visible to the operator. */
export const asking = proxyActivities<Pick<Activities, 'askOutcome' | 'askFollowUp'>>({
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/** Tries a webhook once more: what follows a failure is the schedule of the specification, not a retry of Temporal. */
export const delivering = proxyActivities<Pick<Activities, 'attemptDelivery'>>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});
