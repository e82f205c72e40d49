import { ApplicationFailure } from '@temporalio/common';
import { CommandLimit, orRefused } from '../../workflows/interceptors';

test('a plain Error in a handler refuses that update instead of wedging the workflow', async () => {
  const failure = await orRefused(() => Promise.reject(new TypeError('x is undefined'))).catch(
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(ApplicationFailure);
  expect(failure).toMatchObject({
    type: 'ServerError',
    nonRetryable: true,
    message: 'Unexpected error inside the service.',
  });
});

test('a refusal passes as it is', async () => {
  const refusal = ApplicationFailure.create({ type: 'RefundError', message: 'no', nonRetryable: true });
  await expect(orRefused(() => Promise.reject(refusal))).rejects.toBe(refusal);
});

test('a result is returned as it is', async () => {
  await expect(orRefused(() => Promise.resolve(7))).resolves.toBe(7);
});

test('rules 24.11: a workflow task whose commands have no end fails, before it takes the memory of the worker', () => {
  const limit = new CommandLimit();
  const counts = (times: number, history_length: number) => {
    for (let n = 0; n < times; n += 1) limit.count(history_length);
  };
  counts(1_000, 4);
  counts(1_000, 9);
  expect(() => counts(1, 9)).toThrow('a workflow task starts more than 1000 things');
});
