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

/** Whether the workflow or its update is closed or unknown to Temporal. */
export function isWorkflowClosed(error: unknown): boolean {
  return error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError;
}

/**
 * Failures of an update that no worker has carried out, or whose workflow was closed meanwhile. A worker also rejects a
 * payload whose key its PAYLOAD_KEYS lack.
 */
const DROPPED = ['UnprocessedUpdate', 'AcceptedUpdateCompletedWorkflow', PAYLOAD_REFUSED];

/**
 * Whether a call may or may not have been carried out: no worker runs, Temporal is slow or unreachable, Temporal
 * dropped the update (a workflow task failed, or the history has too many updates), or the worker could not read it.
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

/** Calls that Temporal does not understand: a bug of this service, which no retry fixes. */
const MISTAKES: readonly GrpcStatus[] = ['invalid_argument', 'unimplemented'];

/** Whether Temporal refuses the calls of this service: nothing was carried out, and a retry is refused too. */
export function isRefusedByTemporal(error: unknown): boolean {
  return REFUSED.includes(grpcStatusOf(error));
}

/** Whether the error is an answer to the call, which therefore has no result. */
export function isAnswered(error: unknown): boolean {
  return !isOutcomeUnknown(error) && !isRefusedByTemporal(error);
}

/** Whether Temporal is overloaded. */
export function isExhausted(error: unknown): boolean {
  return grpcStatusOf(error) === 'resource_exhausted';
}

export function isServiceError(error: unknown, name: ErrorName): error is ServiceError {
  return error instanceof ServiceError && error.error === name;
}

/** For `catch`: what was asked for does not exist, or not any more, as Temporal keeps closed runs for its retention. */
export function undefinedIfNotFound(error: unknown): undefined {
  if (!(error instanceof WorkflowNotFoundError) && grpcStatusOf(error) !== 'not_found') throw error;
}

/** Whether a workflow refused an update with this ServiceError. */
export function isWorkflowRefusal(error: unknown, name: ErrorName): boolean {
  return serviceErrorOf(error)?.error === name;
}

/** Whether an update failed undecided: it was dropped, came too late, or its record was lost, or by an error of ours. */
export function isUndecidedUpdate(error: unknown): boolean {
  if (!(error instanceof WorkflowUpdateFailedError)) return false;
  return serviceErrorOf(error) === undefined || isWorkflowRefusal(error, 'ServiceUnavailable');
}

/** The failure with which a workflow ended an update. */
const failureOf = (error: unknown) =>
  error instanceof WorkflowUpdateFailedError &&
  (error.cause instanceof ActivityFailure ? error.cause.cause : error.cause);

/** The ServiceError with which a workflow refused an update. */
function serviceErrorOf(error: unknown): ServiceError | undefined {
  const refusal = failureOf(error);
  return refusal instanceof ApplicationFailure && isErrorName(refusal.type) && refusal.type !== 'ServerError'
    ? new ServiceError(refusal.type, refusal.message, (refusal.details ?? []) as WrongField[])
    : undefined;
}

/**
 * A workflow's refusal as the ServiceError it threw; any other error unchanged. A ServerError of a workflow stays
 * unchanged too: its text is for the log, not for merchants. `subject`: the object as errors name it, for example
 * `Order 0190…`.
 */
export function refusalOf(error: unknown, subject: string): unknown {
  const refusal = failureOf(error);
  if (refusal instanceof ApplicationFailure && refusal.type === RECORD_MISSING) return notFound(subject);
  if (isRefusedByTemporal(error)) return unavailable();
  // The workflow of an object with a final status is closed, and later deleted.
  if (error instanceof WorkflowNotFoundError) {
    return new ServiceError('Conflict', `${subject} is final and cannot change any more.`);
  }
  return serviceErrorOf(error) ?? error;
}

export function notFound(subject: string): ServiceError {
  return new ServiceError('NotFound', `${subject} does not exist.`);
}

/**
 * ServiceUnavailable: the request had no result before the deadline, and nothing was stored or charged (rules 10.5).
 */
export function unavailable(): ServiceError {
  return new ServiceError('ServiceUnavailable', 'The service could not answer in time; nothing was stored or charged.');
}

/** ServiceUnavailable, for a call that is safe to repeat whether or not it was carried out. */
export function unanswered(): ServiceError {
  return new ServiceError('ServiceUnavailable', 'The service could not answer in time.');
}

const SEND_AGAIN =
  'The service could not answer in time; sent again with its Idempotency-Key, the request is answered and done once.';

/** ServiceUnavailable, for a request with an Idempotency-Key that may still be carried out. */
export const keyMayBeSentAgain = (): ServiceError => new ServiceError('ServiceUnavailable', SEND_AGAIN);

/**
 * Temporal has the answer to a creation with an Idempotency-Key, and its record was lost (rules 10.19). A repeat makes
 * the object again.
 */
export class RecordLost extends ServiceError {
  constructor() {
    super('ServiceUnavailable', SEND_AGAIN);
  }
}
