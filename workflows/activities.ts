import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities';

/** Temporal's priorities go from 1 to 5; tasks without one have 3. */
const LOWEST_PRIORITY = 5;

/** While an API request or the next step waits. */
const SHORT_RETRY = { initialInterval: '100 milliseconds', maximumInterval: '5 seconds' } as const;

/** Activities grouped by retry policy; each group offers only the activities meant for it. */

/**
 * Local activities, for calls that an API request or the next step waits for: Postgres, and the processor's first
 * answer. A retry pause above the threshold becomes a timer, so that an outage occupies no worker slot.
 */
export const localActivities = proxyLocalActivities<
  Omit<
    Activities,
    | keyof typeof polling
    | keyof typeof delivering
    | keyof typeof deliveringLocally
    | keyof typeof checking
    | keyof typeof fetching
    | keyof typeof auditing
    | keyof typeof notifying
    | keyof typeof recovering
    | keyof typeof erasing
    | keyof typeof advancingClock
    | keyof typeof checkingReceiver
  >
>({
  startToCloseTimeout: '9 seconds',
  localRetryThreshold: '2 seconds',
  retry: SHORT_RETRY,
});

/**
 * Polls the processor until it answers. Regular activities, which operators see as pending in the Web UI. Temporal
 * dispatches all other tasks of their queue before them.
 */
export const polling = proxyActivities<Pick<Activities, 'pollCharge' | 'pollFollowUp'>>({
  startToCloseTimeout: '15 seconds',
  priority: { priorityKey: LOWEST_PRIORITY },
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/**
 * Local activities that call the processor, as tasks of their own: where too many run inside workflow tasks (rules
 * 10.20). The interceptor chooses.
 */
export const callingAsTasks = proxyActivities<Record<string, (...args: unknown[]) => Promise<unknown>>>({
  startToCloseTimeout: '9 seconds',
  retry: SHORT_RETRY,
});

/** Advances a sandbox clock. Each call takes a few seconds and is safe to repeat. */
export const advancingClock = proxyActivities<Pick<Activities, 'advanceToNextDue' | 'finishClockAdvance'>>({
  startToCloseTimeout: '10 seconds',
  retry: SHORT_RETRY,
});

/**
 * Makes a webhook attempt inside the workflow task, which saves an activity task. Only for receivers that are expected
 * to answer at once. Failed attempts follow their own schedule (rules 13.6), not Temporal's retries.
 */
export const deliveringLocally = proxyLocalActivities<Pick<Activities, 'attemptDeliveryLocally'>>({
  startToCloseTimeout: '25 seconds',
  localRetryThreshold: '2 seconds',
  retry: SHORT_RETRY,
});

/**
 * Makes a webhook attempt as a separate activity task. Temporal dispatches these tasks round-robin by project; eager
 * dispatch would bypass that.
 */
export const delivering = proxyActivities<Pick<Activities, 'attemptDelivery'>>({
  startToCloseTimeout: '30 seconds',
  allowEagerDispatch: false,
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/** Compares the whole index. Retries while the index is unavailable, until shortly before the next day's check. */
export const checking = proxyActivities<Pick<Activities, 'checkIndex'>>({
  scheduleToCloseTimeout: '20 hours',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '10 seconds', maximumInterval: '10 minutes' },
});

/** Fetches the processor's settlements; retries until it answers. */
export const fetching = proxyActivities<Pick<Activities, 'fetchSettlements'>>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
});

/**
 * Compares a part of the record with the processor; retries until it answers. A killed worker is noticed after 20 s.
 */
export const auditing = proxyActivities<Pick<Activities, 'auditPart'>>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '20 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
});

/** Sends webhooks of a recovery for some seconds. A worker that was killed is noticed after ten. */
export const recovering = proxyActivities<Pick<Activities, 'recoverWebhooks'>>({
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/** Erases orders of a customer for some seconds. A worker that was killed is noticed after half a minute. */
export const erasing = proxyActivities<Pick<Activities, 'eraseNext'>>({
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/** Sends an event about an incident to the operator's webhook. Failed attempts follow the schedule of webhooks. */
export const notifying = proxyActivities<Pick<Activities, 'notifyOperator'>>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

/**
 * Plays a receiver check. Slow receivers hold activities, not workflow tasks. Gives up within the time that a check may
 * run (rules 27.8).
 */
export const checkingReceiver = proxyActivities<Pick<Activities, 'playReceiverCase' | 'finishReceiverCheck'>>({
  startToCloseTimeout: '25 seconds',
  scheduleToCloseTimeout: '45 seconds',
  allowEagerDispatch: false,
  retry: { initialInterval: '500 milliseconds', maximumInterval: '5 seconds' },
});
