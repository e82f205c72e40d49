import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
  type WithStartWorkflowOperation,
} from '@temporalio/client';
import {
  ActivityFailure,
  ApplicationFailure,
  type SignalDefinition,
  type UpdateDefinition,
  type Workflow,
} from '@temporalio/common';
import { setTimeout } from 'node:timers/promises';
import { isUnavailable, type Database } from '../db/connection';
import { findOrderView, type OrderView } from '../db/orders/order-view';
import { withdrawRequest } from '../db/requests/request-claims';
import type { AwaitedRequest } from '../domain/awaited-request';
import { OutcomeUnknown, ServiceError, isErrorName, type WrongField } from '../errors';
import { CREATE_UPDATE_ID, PAYLOAD_REFUSED, RECORD_MISSING } from '../../workflows/messages';
import { REFUSED, grpcStatusOf, type GrpcStatus } from './grpc-status';

/** The access that every call needs: to Temporal, and to the record that answers it. */
export interface TemporalAccess {
  client: Client;
  db: Database;
}

/** A request that is answered with the record of an object. `request_id`: it writes something new. */
interface RecordRequest<View> extends Pick<AwaitedRequest, 'request_id'> {
  /** The object as errors name it, for example `Order 0190…`. */
  subject: string;
  /** Reads the object from the record; `undefined` when it does not exist. */
  read: () => Promise<View | undefined>;
  /** When the answer is due, epoch milliseconds. */
  deadline_at: number;
  /** It has an Idempotency-Key: it may still be carried out after its sender got a 503. */
  may_run_late?: boolean;
  /** The object was recorded before the request: where it is not any more, nothing is known (rules 10.19). */
  is_recorded?: boolean;
}

/** A request that is answered with an order. */
export interface OrderRequest extends Omit<RecordRequest<OrderView>, 'subject' | 'read'> {
  order_id: string;
}

/**
 * Makes a call to Temporal within the deadline, again while its outcome is unknown, then reads the object. Throws the
 * workflow's refusal as a ServiceError; without an object, ServiceUnavailable or OutcomeUnknown when the outcome of its
 * creation stayed unknown, NotFound otherwise.
 */
export async function callThenRead<View>(
  { client, db }: TemporalAccess,
  request: RecordRequest<View>,
  call: () => Promise<void>,
): Promise<View> {
  const { subject, read, deadline_at } = request;
  let unknown = false;
  try {
    await client.withDeadline(deadline_at, () => sendUntil(deadline_at, call));
  } catch (error) {
    if (!isOutcomeUnknown(error) && !(error instanceof StillUnknown)) {
      const refusal = refusalOf(error, subject);
      if (isServiceUnavailable(refusal)) return await withdrawOrRead(db, request, refusal);
      throw refusal;
    }
    unknown = true;
  }
  // The call may have moved money: a database that is busy for a moment must not hide that.
  const view = await retryUntil(deadline_at, isUnavailable, read);
  if (view !== undefined) return view;
  if (!unknown || request.is_recorded) throw new ServiceError('NotFound', `${subject} does not exist.`);
  return await withdrawOrRead(db, request, unavailable());
}

/**
 * Ends a request that nothing is recorded of, so far: a worker may be writing it at this moment. One without an
 * Idempotency-Key is withdrawn before `refusal` says that nothing was stored. Where it cannot be withdrawn, returns what
 * is recorded by now, or throws OutcomeUnknown.
 */
async function withdrawOrRead<View>(
  db: Database,
  { request_id, may_run_late, read }: RecordRequest<View>,
  refusal: ServiceError,
): Promise<View> {
  if (may_run_late) throw keyMayBeSentAgain();
  if (request_id === undefined || (await withdrawRequest(db, request_id))) throw refusal;
  // The answer is late already.
  const view = await Promise.race([read(), setTimeout(READ_AGAIN_MS, undefined, { ref: false })]);
  if (view === undefined) throw new OutcomeUnknown();
  return view;
}

/** How long the record may take to be read once more, after the deadline. Milliseconds. */
const READ_AGAIN_MS = 1_500;

/**
 * Joins an earlier creation with the same Idempotency-Key, and returns its object once the first answer is known.
 * `is_over`: no run of it is under way. `undefined`: none is, and there is no object.
 */
export async function joinCreation<View>(
  temporal: TemporalAccess,
  request: RecordRequest<View>,
  workflow_id: string,
): Promise<{ view: View; is_over: boolean } | undefined> {
  let is_over = false;
  const joining = callThenRead(temporal, { ...request, may_run_late: true, is_recorded: false }, async () => {
    try {
      await temporal.client.workflow.getHandle(workflow_id).getUpdateHandle<void>(CREATE_UPDATE_ID).result();
    } catch (error) {
      if (isOutcomeUnknown(error) || isRefusedByTemporal(error)) throw error;
      is_over = true;
    }
  });
  const view = await joining.catch((error: unknown) => {
    if (is_over && error instanceof ServiceError && error.error === 'NotFound') return undefined;
    throw error;
  });
  return view && { view, is_over };
}

/** Like callThenRead, for an order. */
export async function callThenReadOrder(
  temporal: TemporalAccess,
  { order_id, ...request }: OrderRequest,
  call: () => Promise<void>,
): Promise<OrderView> {
  const read = () => findOrderView(temporal.db, order_id);
  return await callThenRead(temporal, { ...request, subject: `Order ${order_id}`, read }, call);
}

/**
 * Sends an update to a workflow. When that is closed or lost, `restart` returns how to start it again from the record,
 * and the update goes to the new run; undefined: the object is final or does not exist, and Temporal's error is thrown.
 */
export async function updateOrRestart<Input, Started extends Workflow>(
  client: Client,
  workflow_id: string,
  update: { definition: UpdateDefinition<unknown, [Input]>; options: { updateId?: string; args: [Input] } },
  restart: () => Promise<WithStartWorkflowOperation<Started> | undefined>,
): Promise<void> {
  const { definition, options } = update;
  try {
    await client.workflow.getHandle(workflow_id).executeUpdate(definition, options);
  } catch (error) {
    const startWorkflowOperation = isWorkflowClosed(error) ? await restart() : undefined;
    if (startWorkflowOperation === undefined) throw error;
    await client.workflow.executeUpdateWithStart(definition, { ...options, startWorkflowOperation });
  }
}

/** Makes a call that is safe to repeat within the deadline, once. Throws ServiceUnavailable when its outcome is unknown. */
export async function callOnce(client: Client, deadline_at: number, call: () => Promise<void>): Promise<void> {
  try {
    await client.withDeadline(deadline_at, call);
  } catch (error) {
    if (isRefusedByTemporal(error)) throw unavailable();
    throw isOutcomeUnknown(error)
      ? new ServiceError('ServiceUnavailable', 'The service could not answer in time.')
      : error;
  }
}

/**
 * Sends an update whose id is the same for every repeat. Temporal keeps the result of an update id, also the
 * ServiceUnavailable of an earlier request that came too late; this request is in time, so it is sent again under an id
 * of its own.
 */
export async function retryUnderNewUpdateId<Result>(
  update_id: string,
  instant: number,
  send: (update_id: string) => Promise<Result>,
): Promise<Result> {
  try {
    return await send(update_id);
  } catch (error) {
    if (!isServiceUnavailable(error)) throw error;
    return await send(`${update_id}:${instant}`);
  }
}

/** Temporal refused the retry, but an earlier attempt may have been carried out. */
class StillUnknown extends Error {}

/**
 * Calls again while the outcome is unknown or the database is busy, until the deadline. Temporal may drop an update at
 * any moment: before a worker sees it, or with its work done, when a signal arrives while the workflow is about to end.
 * Every handler is safe to repeat. This is the only place that repeats an update (observeCalls).
 */
async function sendUntil(deadline_at: number, call: () => Promise<void>): Promise<void> {
  const sent = { may_be_carried_out: false };
  const isRetryable = (error: unknown) => {
    if (isOutcomeUnknown(error)) sent.may_be_carried_out = true;
    return isOutcomeUnknown(error) || isUnavailable(error) || (isRefusedByTemporal(error) && sent.may_be_carried_out);
  };
  try {
    await retryUntil(deadline_at, isRetryable, call);
  } catch (error) {
    throw isRefusedByTemporal(error) && sent.may_be_carried_out ? new StillUnknown() : error;
  }
}

/** The pause before a call is repeated: doubled each time. Milliseconds. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

async function retryUntil<T>(
  deadline_at: number,
  isRetryable: (error: unknown) => boolean,
  call: () => Promise<T>,
): Promise<T> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await call();
    } catch (error) {
      const left = deadline_at - Date.now();
      if (!isRetryable(error) || left <= 0) throw error;
      // Jitter: calls that failed together are not repeated together.
      await setTimeout(Math.min(left, pause * (0.75 + Math.random() / 2)));
    }
  }
}

/**
 * Options of signalWithStart: signals the running workflow; one that is closed or lost starts again,
 * however it ended.
 */
export function signalOrStart<Start extends object, Args extends unknown[]>(
  start: Start,
  signal: SignalDefinition<Args>,
  ...signalArgs: Args
) {
  return { ...start, workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const, signal, signalArgs };
}

/** Makes a call to a workflow; a workflow that is closed or unknown is no error. */
export async function unlessClosed(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!isWorkflowClosed(error)) throw error;
  }
}

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
function isOutcomeUnknown(error: unknown): boolean {
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
function isRefusedByTemporal(error: unknown): boolean {
  return REFUSED.includes(grpcStatusOf(error));
}

/**
 * ServiceUnavailable: the outcome stayed unknown until the deadline, and nothing was stored or charged (rules 10.5).
 */
export function unavailable(): ServiceError {
  return new ServiceError('ServiceUnavailable', 'The service could not answer in time; nothing was stored or charged.');
}

/** ServiceUnavailable, to a request that may be carried out later, as it has an Idempotency-Key. */
export function keyMayBeSentAgain(): ServiceError {
  return new ServiceError(
    'ServiceUnavailable',
    'The service could not answer in time; sent again with its Idempotency-Key, the request is answered and done once.',
  );
}

const isServiceUnavailable = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.error === 'ServiceUnavailable';

/**
 * A workflow's refusal as the ServiceError it threw; any other error as it is. So is a ServerError of a workflow, whose
 * text is for our log and not for merchants.
 */
function refusalOf(error: unknown, subject: string): unknown {
  const refusal =
    error instanceof WorkflowUpdateFailedError &&
    (error.cause instanceof ActivityFailure ? error.cause.cause : error.cause);
  if (refusal instanceof ApplicationFailure && isErrorName(refusal.type) && refusal.type !== 'ServerError') {
    return new ServiceError(refusal.type, refusal.message, (refusal.details ?? []) as WrongField[]);
  }
  if (refusal instanceof ApplicationFailure && refusal.type === RECORD_MISSING) {
    return new ServiceError('NotFound', `${subject} does not exist.`);
  }
  if (isRefusedByTemporal(error)) return unavailable();
  // The workflow of an object with a final status is closed, and later deleted.
  if (error instanceof WorkflowNotFoundError) {
    return new ServiceError('Conflict', `${subject} is final and cannot change any more.`);
  }
  return error;
}
