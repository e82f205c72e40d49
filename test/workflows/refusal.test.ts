import { ServiceError } from '../../src/errors';
import { refusal } from '../../workflows/refusal';

test('a refusal keeps its type, and is not retried', () => {
  expect(refusal(new ServiceError('Conflict', 'It is paid.'))).toMatchObject({
    type: 'Conflict',
    message: 'It is paid.',
    nonRetryable: true,
  });
});
