import { ApplicationFailure } from '@temporalio/common';
import { orRefused } from '../../workflows/interceptors';

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
