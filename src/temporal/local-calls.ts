import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { incrementCounter } from '../metrics/recorder';
import { NO_FREE_SLOT } from '../../workflows/messages';

/**
 * Limits how many activities with these names run inside workflow tasks at once, in this worker (rules 10.20). One more
 * fails at once with NO_FREE_SLOT, and its workflow starts it as a task of its own. A processor that takes long would
 * otherwise hold all slots for workflow tasks, which every order needs.
 */
export function limitLocalCalls(names: readonly string[], at_once: number): ActivityInterceptorsFactory {
  const limited = new Set(names);
  let running = 0;
  return ({ info: { isLocal, activityType } }) => ({
    inbound: {
      async execute(input, next) {
        if (!isLocal || !limited.has(activityType)) return await next(input);
        if (running >= at_once) {
          incrementCounter('payments_processor_calls_deferred_total', {});
          throw ApplicationFailure.create({
            type: NO_FREE_SLOT,
            message: 'Too many calls of the processor are in flight: this one becomes a task of its own.',
            nonRetryable: true,
            category: ApplicationFailureCategory.BENIGN,
          });
        }
        running += 1;
        try {
          return await next(input);
        } finally {
          running -= 1;
        }
      },
    },
  });
}
