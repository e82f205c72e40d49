import { ApplicationFailure } from '@temporalio/common';
import { ForbiddenMove } from '../src/domain/move';
import { ServiceError } from '../src/errors';

type Work = (...input: never[]) => Promise<unknown>;

/**
 * The activities with their errors made ready for Temporal: a ServiceError becomes a failure of the same type that nothing
 * retries, as repeating a refusal cannot help, and so does a move the tables forbid; anything else stays as it is and is retried.
 */
export function withFailures<Activities extends Record<string, Work>>(activities: Activities): Activities {
  return Object.fromEntries(
    Object.entries(activities).map(([name, work]) => [
      name,
      async (...input: never[]) => {
        try {
          return await work(...input);
        } catch (error) {
          // A second try from the same knowledge cannot end otherwise: the workflow has to begin anew from the record.
          if (error instanceof ForbiddenMove) throw ApplicationFailure.create({ type: 'ServerError', message: error.message, nonRetryable: true });
          if (!(error instanceof ServiceError)) throw error;
          throw ApplicationFailure.create({ type: error.error, message: error.value, nonRetryable: true, details: [error.property] });
        }
      },
    ]),
  ) as unknown as Activities;
}
