import { isGrpcServiceError } from '@temporalio/client';

/** The gRPC statuses by which Temporal says that a call was not carried out, as far as it knows. */
const STATUSES = { cancelled: 1, deadline_exceeded: 4, resource_exhausted: 8, failed_precondition: 9, unavailable: 14 } as const;

/** Whether a call to Temporal failed with one of these gRPC statuses; the client may have wrapped the error. */
export function hasGrpcStatus(error: unknown, ...statuses: (keyof typeof STATUSES)[]): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return isGrpcServiceError(cause) && statuses.some((status) => STATUSES[status] === Number(cause.code));
}
