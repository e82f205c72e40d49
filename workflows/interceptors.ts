import {
  ApplicationFailure,
  CancellationScope,
  TemporalFailure,
  log,
  type WorkflowInterceptorsFactory,
} from '@temporalio/workflow';
import { temporalClock } from './clock';
import type { LocalRetry } from './messages';
import { trustedArguments } from './payload-converter';
import { RecordWatch } from './record-missing';

/**
 * Wraps every workflow. Temporal's own cancellation, a button in its Web UI, has no effect: it could abandon money in
 * the middle of a charge, and merchants cancel orders through the API. A plain Error in an update handler would fail
 * the workflow task for ever and block the order: it refuses only that update instead, and the API logs its details.
 *
 * A long pause of a local activity is a timer, after which the SDK schedules it anew, with the same input: the activity
 * is told how long ago that was first (rules 4.15). A workflow whose record is lost ends (rules 10.19).
 *
 * What was not encrypted for the workflow is not obeyed (rules 24.8): an update is refused, a signal ignored, a
 * workflow that was started so fails.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  /** When each local activity was first scheduled, by its arguments. */
  const scheduled = new WeakMap<unknown[], number>();
  const record = new RecordWatch();
  return {
    inbound: [
      {
        async execute(input, next) {
          const args = trustedArguments(input.args);
          return await CancellationScope.nonCancellable(() => record.runWorkflow(() => next({ ...input, args })));
        },
        validateUpdate(input, next) {
          next({ ...input, args: trustedArguments(input.args, input.name) });
        },
        async handleUpdate(input, next) {
          const args = trustedArguments(input.args, input.name);
          return await CancellationScope.nonCancellable(() => orRefused(() => next({ ...input, args })));
        },
        async handleSignal(input, next) {
          let args: unknown[];
          try {
            args = trustedArguments(input.args);
          } catch (error) {
            return log.warn('a signal is ignored', { signal: input.signalName, reason: (error as Error).message });
          }
          await next({ ...input, args });
        },
      },
    ],
    outbound: [
      {
        async scheduleActivity(input, next) {
          return await record.runActivity(() => next(input));
        },
        async scheduleLocalActivity(input, next) {
          const now = temporalClock.now();
          const first = scheduled.get(input.args);
          if (first === undefined) {
            scheduled.set(input.args, now);
            return await record.runActivity(() => next(input));
          }
          const retry: LocalRetry = { waited_ms: now - first };
          return await record.runActivity(() => next({ ...input, args: [...input.args, retry] }));
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
