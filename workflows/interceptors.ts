import { ApplicationFailure, TemporalFailure, type WorkflowInterceptorsFactory } from '@temporalio/workflow';

/**
 * A plain Error in an update handler would fail the workflow task for ever and wedge the order: it becomes a refusal of
 * that one update, whose details stay in the log.
 */
export const interceptors: WorkflowInterceptorsFactory = () => ({
  inbound: [
    {
      async handleUpdate(input, next) {
        try {
          return await next(input);
        } catch (error) {
          if (error instanceof TemporalFailure) throw error;
          throw ApplicationFailure.create({ type: 'ServerError', message: 'Unexpected error inside the service.', nonRetryable: true, cause: error as Error });
        }
      },
    },
  ],
});
