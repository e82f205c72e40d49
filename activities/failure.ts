import { ApplicationFailure } from '@temporalio/common';
import { ForbiddenMove } from '../src/domain/move';
import { ServiceError } from '../src/errors';
import type { LocalRetry } from '../workflows/messages';
import { atTimeOfTry, waitedMilliseconds } from './time-of-try';

type Work = (input: never) => Promise<unknown>;

/**
 * Runs activities at the instant of each try (rules 4.15), and turns their errors into failures for Temporal. A ServiceError becomes a failure of the same type that is not
 * retried, as repeating a refusal cannot help; so does a move the tables forbid. Any other error is retried.
 */
export function withFailures<Activities extends Record<string, Work>>(activities: Activities): Activities {
  return Object.fromEntries(
    Object.entries(activities).map(([name, work]) => [
      name,
      async (input: unknown, retry?: LocalRetry) => {
        try {
          return await work(atTimeOfTry(input, waitedMilliseconds(retry)) as never);
        } catch (error) {
          // A retry with the same input would fail again: the workflow has to start over from the record.
          if (error instanceof ForbiddenMove) {
            throw ApplicationFailure.create({ type: 'ServerError', message: error.message, nonRetryable: true });
          }
          if (!(error instanceof ServiceError)) throw error;
          throw ApplicationFailure.create({
            type: error.error,
            message: error.value,
            nonRetryable: true,
            details: [...error.fields],
          });
        }
      },
    ]),
  ) as unknown as Activities;
}
