import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  isGrpcServiceError,
  type Client,
} from '@temporalio/client';
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { setTimeout } from 'node:timers/promises';
import type { Database } from '../src/db/connection';
import { findOrderView, type OrderView } from '../src/db/order-view';
import { ServiceError, isErrorName, type ErrorProperty } from '../src/errors';

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
export async function answeredOrder({ client, db, order_id, deadline_at, may_run_late }: Call, call: () => Promise<void>): Promise<OrderView> {
  let silent = false;
  try {
    await client.withDeadline(deadline_at, () => untilProcessed(call, deadline_at));
  } catch (error) {
    if (!isSilence(error)) throw withReason(refusalOf(error, order_id), may_run_late);
    silent = true;
  }
  const order = await findOrderView(db, order_id);
  if (order !== undefined) return order;
  throw silent ? withReason(unavailable(), may_run_late) : new ServiceError('NotFound', 'The order does not exist.');
}

/** Temporal may drop an update before a worker sees it (`UnprocessedUpdate`): resend. */
async function untilProcessed(call: () => Promise<void>, deadline_at: number): Promise<void> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isDropped(error) || Date.now() >= deadline_at) throw error;
      await setTimeout(DROPPED_AGAIN_AFTER_MS);
    }
  }
}

const isDropped = (error: unknown) => error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure && error.cause.type === 'UnprocessedUpdate';

const DROPPED_AGAIN_AFTER_MS = 100;

/** With a key it may still run, so do not promise that nothing was stored. */
function withReason(error: unknown, may_run_late: boolean | undefined): unknown {
  if (!may_run_late || !(error instanceof ServiceError && error.error === 'ServiceUnavailable')) return error;
  return new ServiceError('ServiceUnavailable', 'The service could not answer in time; sent again with its Idempotency-Key, the request is answered and done once.');
}

/** ServiceUnavailable: there was no answer before the deadline, and nothing was stored or charged (DECISIONS, HTTP surface 10). */
export function unavailable(): ServiceError {
  return new ServiceError('ServiceUnavailable', 'The service could not answer in time; nothing was stored or charged.');
}

/** Whether the workflow, or its update, is closed or unknown: nothing is under way any more. */
export function isOver(error: unknown): boolean {
  return error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError;
}

/** Whether there was no answer: no worker, or Temporal is slow or unreachable. */
export function isSilence(error: unknown): boolean {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isDropped(error)) return true;
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!isGrpcServiceError(cause)) return false;
  // After repeated failures of a task, or with too many updates in the history, Temporal refuses updates until a task succeeds.
  const notReady = Number(cause.code) === 9 && /Workflow Task in failed state|limit on the total number of distinct updates/.test(cause.message);
  return notReady || [1, 4, 8, 14].includes(Number(cause.code)); // cancelled, deadline exceeded, exhausted, unavailable
}

function refusalOf(error: unknown, order_id: string): unknown {
  const refused = error instanceof WorkflowUpdateFailedError && (error.cause instanceof ActivityFailure ? error.cause.cause : error.cause);
  if (refused instanceof ApplicationFailure && isErrorName(refused.type)) {
    const [property] = (refused.details ?? []) as [ErrorProperty?];
    return new ServiceError(refused.type, refused.message, property ?? {});
  }
  // The workflow of a final order is closed, and later deleted.
  if (error instanceof WorkflowNotFoundError) return new ServiceError('Conflict', `Order ${order_id} is final and cannot change any more.`);
  return error;
}
