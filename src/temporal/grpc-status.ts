import { isGrpcServiceError } from '@temporalio/client';

const STATUSES = { 3: 'invalid_argument', 4: 'deadline_exceeded', 14: 'unavailable' } as const;

/** The gRPC status with which a call to Temporal failed, `other` for those that nobody tells apart; `undefined` for any other error. */
export function grpcStatusOf(error: unknown): (typeof STATUSES)[keyof typeof STATUSES] | 'other' | undefined {
  // The client wraps most of them.
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return isGrpcServiceError(cause) ? (STATUSES[Number(cause.code) as keyof typeof STATUSES] ?? 'other') : undefined;
}
