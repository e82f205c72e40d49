import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
} from '@temporalio/client';
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { setTimeout } from 'node:timers/promises';
import { isAway, type Database } from '../src/db/connection';
import { findOrderView, type OrderView } from '../src/db/order-view';
import { ServiceError, isErrorName, type ErrorProperty } from '../src/errors';
import { grpcStatusOf } from '../src/temporal/grpc-status';

/** A call to Temporal: the order it is about, and when its answer is due (epoch milliseconds). */
interface Call {
  client: Client;
  db: Database;
  order_id: string;
  deadline_at: number;
  /** It has an Idempotency-Key: it may still run after its sender got a 503. */
  may_run_late?: boolean;
}

/**
 * Runs a call to Temporal within the deadline. Unless it is refused, the answer is the order in the database. Throws the workflow's
 * refusal as a ServiceError; without an order, ServiceUnavailable when there was no answer in time, NotFound otherwise.
 */
export async function answeredOrder(
  { client, db, order_id, deadline_at, may_run_late }: Call,
  call: () => Promise<void>,
): Promise<OrderView> {
  let silent = false;
  try {
    await client.withDeadline(deadline_at, () =>
      untilDeadline(call, (error) => isSilence(error) || isAway(error), deadline_at),
    );
  } catch (error) {
    if (!isSilence(error)) throw withReason(refusalOf(error, order_id), may_run_late);
    silent = true;
  }
  // What was done must not be lost in the answer because the database is busy for a moment.
  const order = await untilDeadline(() => findOrderView(db, order_id), isAway, deadline_at);
  if (order !== undefined) return order;
  throw silent ? withReason(unavailable(), may_run_late) : new ServiceError('NotFound', 'The order does not exist.');
}

/**
 * Tries again after a failure that says nothing of what was done, until the deadline. Temporal may drop an update at any moment:
 * before a worker sees it, or with its work done, when news reached the workflow that it was about to end. Only a resent one tells,
 * and every handler is safe to repeat.
 */
async function untilDeadline<T>(
  attempt: () => Promise<T>,
  saysNothing: (error: unknown) => boolean,
  deadline_at: number,
): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!saysNothing(error) || Date.now() >= deadline_at) throw error;
      await setTimeout(AGAIN_AFTER_MS);
    }
  }
}

const AGAIN_AFTER_MS = 100;

/** With a key it may still run, so do not promise that nothing was stored. */
function withReason(error: unknown, may_run_late: boolean | undefined): unknown {
  if (!may_run_late || !(error instanceof ServiceError && error.error === 'ServiceUnavailable')) return error;
  return new ServiceError(
    'ServiceUnavailable',
    'The service could not answer in time; sent again with its Idempotency-Key, the request is answered and done once.',
  );
}

/** ServiceUnavailable: there was no answer before the deadline, and nothing was stored or charged (rules 10.5). */
export function unavailable(): ServiceError {
  return new ServiceError('ServiceUnavailable', 'The service could not answer in time; nothing was stored or charged.');
}

/** Whether the workflow, or its update, is closed or unknown: nothing is under way any more. */
export function isOver(error: unknown): boolean {
  return error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError;
}

/** Failures of an update that Temporal itself gives: no worker processed it, or its workflow was ended by somebody else. */
const DROPPED = ['UnprocessedUpdate', 'AcceptedUpdateCompletedWorkflow'];

/**
 * Whether there was no answer: no worker, Temporal is slow or unreachable, or it dropped the update, as a workflow task failed for
 * instance or the history has too many updates. Nothing is known then of what was done.
 */
export function isSilence(error: unknown): boolean {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return true;
  if (error instanceof WorkflowUpdateFailedError) {
    return error.cause instanceof ApplicationFailure && DROPPED.includes(error.cause.type ?? '');
  }
  if (isOver(error)) return false;
  const status = grpcStatusOf(error);
  return status !== undefined && status !== 'invalid_argument';
}

function refusalOf(error: unknown, order_id: string): unknown {
  const refused =
    error instanceof WorkflowUpdateFailedError &&
    (error.cause instanceof ActivityFailure ? error.cause.cause : error.cause);
  if (refused instanceof ApplicationFailure && isErrorName(refused.type)) {
    const [property] = (refused.details ?? []) as [ErrorProperty?];
    return new ServiceError(refused.type, refused.message, property ?? {});
  }
  // The workflow of a final order is closed, and later deleted.
  if (error instanceof WorkflowNotFoundError) {
    return new ServiceError('Conflict', `Order ${order_id} is final and cannot change any more.`);
  }
  return error;
}
