import { ApplicationFailure } from '@temporalio/common';
import { RecordMissing } from '../src/db/orders/record-missing';
import { ForbiddenMove } from '../src/domain/move';
import { ServiceError } from '../src/errors';
import { RECORD_MISSING, type LocalRetry } from '../workflows/messages';
import { atTimeOfTry, waitedMilliseconds } from './time-of-try';

/** What was found; null when nothing was, RecordMissing for a record that `must_exist`. */
export function foundOrNull<Stored>(found: Stored | undefined, must_exist: boolean, name: string): Stored | null {
  if (found === undefined && must_exist) throw new RecordMissing(name);
  return found ?? null;
}

type Work = (input: never) => Promise<unknown>;

/** A record that is missing for so long is lost: failovers are over by then, and replicas have caught up. Milliseconds. */
const RECORD_LOST_AFTER_MS = 60_000;

/**
 * Runs activities at the instant of each try (rules 4.15), and turns their errors into failures for Temporal. A
 * ServiceError becomes a failure of the same type that is not retried, as repeating a refusal cannot help. Neither are a
 * move the tables forbid and a record that stays missing. Any other error is retried.
 */
export function withFailures<Activities extends Record<string, Work>>(activities: Activities): Activities {
  return Object.fromEntries(
    Object.entries(activities).map(([name, work]) => [
      name,
      async (input: never, retry?: LocalRetry) => {
        const waited_ms = waitedMilliseconds(retry);
        try {
          return await work(atTimeOfTry(input, waited_ms));
        } catch (error) {
          // A retry with the same input would fail again: the workflow has to start over from the record.
          if (error instanceof ForbiddenMove) {
            throw ApplicationFailure.create({ type: 'ServerError', message: error.message, nonRetryable: true });
          }
          if (error instanceof RecordMissing && waited_ms >= RECORD_LOST_AFTER_MS) {
            throw ApplicationFailure.create({ type: RECORD_MISSING, message: error.message, nonRetryable: true });
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
