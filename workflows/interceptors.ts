import { ApplicationFailure, CancellationScope, TemporalFailure, type WorkflowInterceptorsFactory } from '@temporalio/workflow';

/**
 * Around every workflow. A merchant cancels an order by the API: Temporal's own cancellation, a button of its Web UI, must not
 * abandon money in the middle of a charge, so nothing here is cancelled by it. And a plain Error in an update handler would fail
 * the workflow task for ever and wedge the order: it becomes a refusal of that one update, whose details stay in the log.
 */
export const interceptors: WorkflowInterceptorsFactory = () => ({
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
});

/** Runs an update; an Error nobody declared refuses it. */
export async function orRefused<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TemporalFailure) throw error;
    throw ApplicationFailure.create({ type: 'ServerError', message: 'Unexpected error inside the service.', nonRetryable: true, cause: error as Error });
  }
}
