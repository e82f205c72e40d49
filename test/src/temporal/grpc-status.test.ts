import { NamespaceNotFoundError } from '@temporalio/common';
import { grpcStatusOf } from '../../../src/temporal/grpc-status';

const grpc = (code: number) => Object.assign(new Error(`${code}: why`), { code, details: 'why', metadata: {} });

test.each([
  ['as gRPC throws it', grpc(14), 'unavailable'],
  ['wrapped by the client', new Error('Update failed', { cause: grpc(4) }), 'deadline_exceeded'],
  ['our mistake', grpc(3), 'invalid_argument'],
  ['not allowed', grpc(7), 'permission_denied'],
  ['not known', grpc(16), 'unauthenticated'],
  ['not understood', grpc(12), 'unimplemented'],
  ['no namespace', new NamespaceNotFoundError('n'), 'namespace_not_found'],
  ['a failure of Temporal', grpc(13), 'internal'],
  ['any other status', grpc(10), 'other'],
  ['no error of gRPC', new Error('why'), undefined],
  ['no error at all', 'why', undefined],
])('%s', (_what, error, status) => {
  expect(grpcStatusOf(error)).toBe(status);
});
