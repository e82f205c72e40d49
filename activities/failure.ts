import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { RecordMissing, required } from '../src/db/query';
import { ForbiddenMove } from '../src/domain/move';
import { ServiceError } from '../src/errors';
import { RECORD_MISSING, type LocalRetry } from '../workflows/messages';
import { withTimeOfTry, waitedMilliseconds } from './activity-time';

/** Returns the record, or null; throws RecordMissing when a record that `must_exist` was not found. */
export function foundOrNull<Stored>(found: Stored | undefined, must_exist: boolean, name: string): Stored | null {
  return must_exist ? required(found, name) : (found ?? null);
}

/**
 * The failure of an activity for which this worker has no place now. It is tried again after once to twice the time
 * (milliseconds), here or by another worker: those that wait do not come back all at once.
 */
export const busyFailure = (type: string, { message, again_after }: { message: string; again_after: number }) =>
  ApplicationFailure.create({
    type,
    message,
    nextRetryDelay: again_after + Math.random() * again_after,
    category: ApplicationFailureCategory.BENIGN,
  });

type Work = (input: never) => Promise<unknown>;

/**
 * A record that is missing for this long is lost: failovers have ended by then, and replicas have caught up.
 * Milliseconds.
 */
const RECORD_LOST_AFTER_MS = 60_000;

/**
 * Runs activities at the instant of each try (rules 4.15), and turns their errors into failures for Temporal. A
 * ServiceError becomes a failure of the same type and is not retried. A move that the tables forbid and a lost record
 * are not retried either; `onRecordLost` runs before. Any other error is retried.
 */
export function withFailures<Activities extends Record<string, Work>>(
  activities: Activities,
  onRecordLost: () => Promise<void> = () => Promise.resolve(),
): Activities {
  return Object.fromEntries(
    Object.entries(activities).map(([name, work]) => [
      name,
      async (input: never, retry?: LocalRetry) => {
        const waited_ms = waitedMilliseconds(retry);
        try {
          return await work(withTimeOfTry(input, waited_ms));
        } catch (error) {
          // A retry with the same input would fail again: the workflow continues from the record instead.
          if (error instanceof ForbiddenMove) {
            throw ApplicationFailure.create({ type: 'ServerError', message: error.message, nonRetryable: true });
          }
          if (error instanceof RecordMissing && waited_ms >= RECORD_LOST_AFTER_MS) {
            await onRecordLost();
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
