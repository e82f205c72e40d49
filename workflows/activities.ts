import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';

/** Activities grouped by retry policy; each group offers only the activities meant for it. */

/**
 * Local activities, for what an API request or the next step waits for: Postgres, or the processor's first answer. A
 * retry pause above the threshold becomes a timer, so that an outage holds no worker slot.
 */
export const localActivities = proxyLocalActivities<
  Omit<
    Activities,
    | keyof typeof polling
    | keyof typeof paying
    | keyof typeof delivering
    | keyof typeof deliveringLocally
    | keyof typeof checking
    | keyof typeof fetching
    | keyof typeof advancingClock
  >
>({
  startToCloseTimeout: '9 seconds',
  localRetryThreshold: '2 seconds',
  retry: { initialInterval: '100 milliseconds', maximumInterval: '5 seconds' },
});

/** Asks the processor until it answers; visible to the operator. */
export const polling = proxyActivities<Pick<Activities, 'pollCharge' | 'pollFollowUp'>>({
  startToCloseTimeout: '15 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/**
 * Pays through a link: waits for the first answer of the order's workflow. Not a local activity, which would hold a
 * workflow task slot that the order itself needs.
 */
export const paying = proxyActivities<Pick<Activities, 'payThroughLink'>>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '100 milliseconds', maximumInterval: '10 seconds' },
});

/** Moves a sandbox clock; each call lasts a few seconds, and every one is safe to repeat. */
export const advancingClock = proxyActivities<Pick<Activities, 'advanceToNextDue' | 'finishClockAdvance'>>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '100 milliseconds', maximumInterval: '5 seconds' },
});

/**
 * Makes an attempt of a webhook inside the workflow task: an attempt that fails at once then costs one workflow task
 * and no activity task. Only where the receiver is expected to answer at once. Failed attempts follow their own
 * schedule (rules 13.6), not Temporal's retries.
 */
export const deliveringLocally = proxyLocalActivities<Pick<Activities, 'attemptDeliveryLocally'>>({
  startToCloseTimeout: '25 seconds',
  localRetryThreshold: '2 seconds',
  retry: { initialInterval: '100 milliseconds', maximumInterval: '5 seconds' },
});

/**
 * Makes an attempt of a webhook as a task of its own. The tasks wait on a queue that Temporal serves by project in
 * turn; eager dispatch would pass that queue.
 */
export const delivering = proxyActivities<Pick<Activities, 'attemptDelivery'>>({
  startToCloseTimeout: '30 seconds',
  allowEagerDispatch: false,
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/** Compares the whole index. While the index is away it is tried again until shortly before the next day's check. */
export const checking = proxyActivities<Pick<Activities, 'checkIndex'>>({
  scheduleToCloseTimeout: '20 hours',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '10 seconds', maximumInterval: '10 minutes' },
});

/** Fetches what the processor has settled, until it answers. */
export const fetching = proxyActivities<Pick<Activities, 'fetchSettlements'>>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
});
