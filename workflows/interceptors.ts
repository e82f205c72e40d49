import {
  ApplicationFailure,
  CancellationScope,
  TemporalFailure,
  type WorkflowInterceptorsFactory,
} from '@temporalio/workflow';

/**
 * Wraps every workflow. Temporal's own cancellation, a button in its Web UI, has no effect: it could abandon money in
 * the middle of a charge, and merchants cancel orders through the API. A plain Error in an update handler would fail
 * the workflow task for ever and block the order: it refuses only that update instead, and the API logs its details.
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
