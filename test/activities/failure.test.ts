import { ApplicationFailure } from '@temporalio/common';
import { RecordMissing } from '../../src/db/query';
import { MockActivityEnvironment } from '@temporalio/testing';
import { withFailures } from '../../activities/failure';
import { ForbiddenMove } from '../../src/domain/move';
import { ServiceError, validationError } from '../../src/errors';
import { RECORD_MISSING } from '../../workflows/messages';
import { MINUTE } from '../support/domain';
import { errorsOnly } from '../support/temporal';

const failing = (error: unknown) => withFailures({ work: () => Promise.reject(error as Error) }).work();

test('a refusal keeps its type, text and field, and nothing retries it', async () => {
  const failure = (await failing(validationError('amount', 'Too much.')).catch(
    (error: unknown) => error,
  )) as ApplicationFailure;
  expect(failure).toBeInstanceOf(ApplicationFailure);
  expect(failure).toMatchObject({ type: 'ValidationError', message: 'amount: Too much.', nonRetryable: true });
  expect(failure.details).toEqual([{ path: 'amount', text: 'Too much.' }]);
});

test('a refusal that may pass is not retried by Temporal either: the caller decides', async () => {
  await expect(failing(new ServiceError('ServiceUnavailable', 'Late.'))).rejects.toMatchObject({
    type: 'ServiceUnavailable',
    nonRetryable: true,
  });
});

test('a move that the tables forbid is not tried again: it would end the same', async () => {
  await expect(failing(new ForbiddenMove('transaction accepted → error'))).rejects.toMatchObject({
    type: 'ServerError',
    nonRetryable: true,
    message: 'transaction accepted → error',
  });
});

test('anything else passes through as it is, to be retried', async () => {
  const error = new Error('connection lost');
  await expect(failing(error)).rejects.toBe(error);
});

test('rules 10.19: a missing record is tried again for a minute, as a failover may hide it; then it is lost', async () => {
  const missing = new RecordMissing('order 1');
  const tried = (scheduledTimestampMs: number) =>
    new MockActivityEnvironment({ scheduledTimestampMs }, { logger: errorsOnly }).run(() => failing(missing));
  await expect(tried(Date.now())).rejects.toBe(missing);
  await expect(tried(Date.now() - MINUTE)).rejects.toMatchObject({ type: RECORD_MISSING, nonRetryable: true });
});

test('a result is returned as it is', async () => {
  const { add } = withFailures({ add: ({ a, b }: { a: number; b: number }) => Promise.resolve(a + b) });
  expect(await add({ a: 2, b: 3 })).toBe(5);
});
