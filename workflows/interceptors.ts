import {
  ApplicationFailure,
  CancellationScope,
  TemporalFailure,
  type WorkflowInterceptorsFactory,
} from '@temporalio/workflow';
import { temporalClock } from './clock';
import type { LocalRetry } from './messages';

/**
 * Wraps every workflow. Temporal's own cancellation, a button in its Web UI, has no effect: it could abandon money in
 * the middle of a charge, and merchants cancel orders through the API. A plain Error in an update handler would fail
 * the workflow task for ever and block the order: it refuses only that update instead, and the API logs its details.
 *
 * A long pause of a local activity is a timer, after which it is scheduled anew, with the same input: it is told how
 * long ago that was (rules 4.15).
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  /** When each local activity was first scheduled, by its arguments. */
  const scheduled = new WeakMap<unknown[], number>();
  return {
    inbound: [
      {
        async execute(input, next) {
          return await CancellationScope.nonCancellable(() => next(input));
        },
        async handleUpdate(input, next) {
          return await CancellationScope.nonCancellable(() => orRefused(() => next(input)));
        },
      },
    ],
    outbound: [
      {
        async scheduleLocalActivity(input, next) {
          const now = temporalClock.now();
          const first = scheduled.get(input.args);
          if (first === undefined) {
            scheduled.set(input.args, now);
            return await next(input);
          }
          return await next({ ...input, args: [...input.args, { waited_ms: now - first } satisfies LocalRetry] });
        },
      },
    ],
  };
};

/** Runs an update; an undeclared Error refuses it with ServerError. */
export async function orRefused<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TemporalFailure) throw error;
    throw ApplicationFailure.create({
      type: 'ServerError',
      message: 'Unexpected error inside the service.',
      nonRetryable: true,
      cause: error as Error,
    });
  }
}
