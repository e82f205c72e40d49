import { ApplicationFailure } from '@temporalio/common';
import { interceptors } from '../../workflows/interceptors';

const [inbound] = interceptors().inbound ?? [];
const update = (work: () => Promise<unknown>) => inbound!.handleUpdate!({ updateId: 'u', name: 'n', args: [], headers: {} }, work);

test('a plain Error in a handler refuses that update instead of wedging the workflow', async () => {
  const failure = await update(() => Promise.reject(new TypeError('x is undefined'))).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ApplicationFailure);
  expect(failure).toMatchObject({ type: 'ServerError', nonRetryable: true, message: 'Unexpected error inside the service.' });
});

test('a refusal passes as it is', async () => {
  const refusal = ApplicationFailure.create({ type: 'RefundError', message: 'no', nonRetryable: true });
  await expect(update(() => Promise.reject(refusal))).rejects.toBe(refusal);
});

test('what succeeds passes as it is', async () => {
  await expect(update(() => Promise.resolve(7))).resolves.toBe(7);
});
