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

/** Whom a call asks, which order it is about, and when its answer is due (epoch milliseconds). */
interface Call {
  client: Client;
  db: Database;
  order_id: string;
  deadline_at: number;
  /** It has an Idempotency-Key: it may still be carried out when its sender was told that the service is away. */
  may_run_late?: boolean;
}

/**
 * Runs a call to Temporal within the deadline; whatever became of it, the order in the database is the answer, if it is there.
 * Throws the ServiceError a workflow refused with; ServiceUnavailable when nobody answered in time and nothing is stored.
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

/** A server that is busy with the workflow may drop an update before anybody has seen it: the same one is sent again. */
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

/** Milliseconds. */
const DROPPED_AGAIN_AFTER_MS = 100;

/** "Nothing was stored or charged" is not promised to who may send the request again by its key. */
function withReason(error: unknown, may_run_late: boolean | undefined): unknown {
  if (!may_run_late || !(error instanceof ServiceError && error.error === 'ServiceUnavailable')) return error;
  return new ServiceError('ServiceUnavailable', 'The service could not answer in time; sent again with its Idempotency-Key, the request is answered and done once.');
}

/** ServiceUnavailable: nobody answered before the deadline, and nothing was stored or charged (DECISIONS, HTTP surface 10). */
export function unavailable(): ServiceError {
  return new ServiceError('ServiceUnavailable', 'The service could not answer in time; nothing was stored or charged.');
}

/** Whether the workflow, or its update, is closed or forgotten: nothing is under way any more. */
export function isOver(error: unknown): boolean {
  return error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError;
}

/** Whether nobody answered: no worker, or Temporal is slow or away. */
export function isSilence(error: unknown): boolean {
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isDropped(error)) return true;
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!isGrpcServiceError(cause)) return false;
  // Three workers were killed at the same task of this workflow, or its history is full of updates: Temporal takes no other until
  // a task is done.
  const notReady = Number(cause.code) === 9 && /Workflow Task in failed state|limit on the total number of distinct updates/.test(cause.message);
  return notReady || [1, 4, 8, 14].includes(Number(cause.code)); // cancelled, deadline exceeded, exhausted, unavailable
}

function refusalOf(error: unknown, order_id: string): unknown {
  const refused = error instanceof WorkflowUpdateFailedError && (error.cause instanceof ActivityFailure ? error.cause.cause : error.cause);
  if (refused instanceof ApplicationFailure && isErrorName(refused.type)) {
    const [property] = (refused.details ?? []) as [ErrorProperty?];
    return new ServiceError(refused.type, refused.message, property ?? {});
  }
  // The workflow of a final order is closed, and some day deleted: the order cannot change any more.
  if (error instanceof WorkflowNotFoundError) return new ServiceError('Conflict', `Order ${order_id} is final and cannot change any more.`);
  return error;
}
