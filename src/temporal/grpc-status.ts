import { isGrpcServiceError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';

const STATUSES = {
  0: 'ok',
  1: 'cancelled',
  2: 'unknown',
  3: 'invalid_argument',
  4: 'deadline_exceeded',
  5: 'not_found',
  7: 'permission_denied',
  8: 'resource_exhausted',
  9: 'failed_precondition',
  12: 'unimplemented',
  13: 'internal',
  14: 'unavailable',
  16: 'unauthenticated',
} as const;

export type GrpcStatus = (typeof STATUSES)[keyof typeof STATUSES] | 'namespace_not_found' | 'other';

/**
 * The gRPC status with which a call to Temporal failed; `other` for codes that callers handle alike. `undefined` for
 * any other error.
 */
export function grpcStatusOf(error: unknown): GrpcStatus | undefined {
  // The client wraps most gRPC errors.
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (error instanceof NamespaceNotFoundError || cause instanceof NamespaceNotFoundError) return 'namespace_not_found';
  return isGrpcServiceError(cause) ? statusOf(Number(cause.code)) : undefined;
}

export function statusOf(code: number): GrpcStatus {
  return STATUSES[code as keyof typeof STATUSES] ?? 'other';
}

/**
 * Temporal refuses every call of this service until an operator corrects the configuration. Nothing was carried out.
 */
export const REFUSED: readonly (GrpcStatus | undefined)[] = [
  'permission_denied',
  'unauthenticated',
  'namespace_not_found',
];
