import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { ServiceError, isErrorName, type ErrorName, type WrongField } from '../errors';
import { PAYLOAD_REFUSED, RECORD_MISSING } from '../../workflows/messages';
import { REFUSED, grpcStatusOf, type GrpcStatus } from './grpc-status';

/** What the error of a call to Temporal means, and the answers that follow from it. */

/** Whether the workflow, or its update, is closed or unknown: nothing is under way any more. */
export function isWorkflowClosed(error: unknown): boolean {
  return error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError;
}

/**
 * Failures of an update that no worker has carried out, or whose workflow was closed meanwhile. A worker refuses the
 * payload when it lacks the key, until an operator gives it the same PAYLOAD_KEYS.
 */
const DROPPED = ['UnprocessedUpdate', 'AcceptedUpdateCompletedWorkflow', PAYLOAD_REFUSED];

/**
 * Whether a call may or may not have been carried out: there is no worker, Temporal is slow or unreachable, or it
 * dropped the update, for instance because a workflow task failed or the history has too many updates; or the worker
 * could not read it.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return true;
  if (error instanceof WorkflowUpdateFailedError) {
    return error.cause instanceof ApplicationFailure && DROPPED.includes(error.cause.type ?? '');
  }
  if (isWorkflowClosed(error)) return false;
  const status = grpcStatusOf(error);
  return status !== undefined && !MISTAKES.includes(status) && !REFUSED.includes(status);
}

/** Calls that Temporal does not understand: a defect of this service, which a retry does not help. */
const MISTAKES: readonly GrpcStatus[] = ['invalid_argument', 'unimplemented'];

/**
 * Whether Temporal refuses the calls of this service: nothing was carried out, and sent again the call is refused
 * again.
 */
export function isRefusedByTemporal(error: unknown): boolean {
  return REFUSED.includes(grpcStatusOf(error));
}

/** Whether the call was answered, by an error: it has no result, and will have none. */
export function isAnswered(error: unknown): boolean {
  return !isOutcomeUnknown(error) && !isRefusedByTemporal(error);
}

/** Whether Temporal has too much to do. */
export function isExhausted(error: unknown): boolean {
  return grpcStatusOf(error) === 'resource_exhausted';
}

export function isServiceError(error: unknown, name: ErrorName): error is ServiceError {
  return error instanceof ServiceError && error.error === name;
}

/**
 * A workflow's refusal as the ServiceError it threw; any other error as it is. So is a ServerError of a workflow, whose
 * text is for our log and not for merchants. `subject`: the object as errors name it, for example `Order 0190…`.
 */
export function refusalOf(error: unknown, subject: string): unknown {
  const refusal =
    error instanceof WorkflowUpdateFailedError &&
    (error.cause instanceof ActivityFailure ? error.cause.cause : error.cause);
  if (refusal instanceof ApplicationFailure && isErrorName(refusal.type) && refusal.type !== 'ServerError') {
    return new ServiceError(refusal.type, refusal.message, (refusal.details ?? []) as WrongField[]);
  }
  if (refusal instanceof ApplicationFailure && refusal.type === RECORD_MISSING) return notFound(subject);
  if (isRefusedByTemporal(error)) return unavailable();
  // The workflow of an object with a final status is closed, and later deleted.
  if (error instanceof WorkflowNotFoundError) {
    return new ServiceError('Conflict', `${subject} is final and cannot change any more.`);
  }
  return error;
}

export function notFound(subject: string): ServiceError {
  return new ServiceError('NotFound', `${subject} does not exist.`);
}

/**
 * ServiceUnavailable: the outcome stayed unknown until the deadline, and nothing was stored or charged (rules 10.5).
 */
export function unavailable(): ServiceError {
  return new ServiceError('ServiceUnavailable', 'The service could not answer in time; nothing was stored or charged.');
}

/** ServiceUnavailable, to a call that is safe to repeat, whatever has become of it. */
export function unanswered(): ServiceError {
  return new ServiceError('ServiceUnavailable', 'The service could not answer in time.');
}

/** ServiceUnavailable, to a request that may be carried out later, as it has an Idempotency-Key. */
export function keyMayBeSentAgain(): ServiceError {
  return new ServiceError(
    'ServiceUnavailable',
    'The service could not answer in time; sent again with its Idempotency-Key, the request is answered and done once.',
  );
}
