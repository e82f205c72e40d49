import type { Client } from '@temporalio/client';
import { setTimeout } from 'node:timers/promises';
import { isUnavailable } from '../db/availability';
import type { Database } from '../db/query';
import { withdrawRequest } from '../db/requests/request-claims';
import type { AcceptedRequest } from '../domain/accepted-request';
import { OutcomeUnknown, ServiceError } from '../errors';
import type { LabelsOf } from '../metrics/catalogue';
import { incrementCounter, measure } from '../metrics/recorder';
import {
  RecordLost,
  isExhausted,
  isOutcomeUnknown,
  isRefusedByTemporal,
  isServiceError,
  isWorkflowClosed,
  keyMayBeSentAgain,
  notFound,
  refusalOf,
  unanswered,
  unavailable,
} from './call-errors';
import type { ReadableKind } from './kinds';

/** The dependencies of every call: Temporal, and the record that is the answer. */
export interface TemporalAccess {
  client: Client;
  /**
   * Through the connection with which the workers of this process poll: the answer to the start of a workflow brings
   * them its first task, if one has a free slot. Absent where no worker runs, and where Temporal is to choose by
   * project which task comes first.
   */
  worker_client?: Client;
  /** `false`: the first task goes through its queue, to a worker of the current version (rules 24.21). */
  starts_eagerly?: boolean;
  db: Database;
}

/**
 * The effect of a call on the object. The SQL that writes a creation or a payment claims the request (rules 10.5); a
 * change is not claimed.
 */
export type Purpose = 'create' | 'pay' | 'change';

/** A call that is answered with the record of an object. */
interface ObjectCall<Stored> {
  kind: ReadableKind<Stored>;
  id: string;
  request: AcceptedRequest;
  purpose: Purpose;
}

/**
 * Makes a call to Temporal, repeats it while its outcome is unknown, until the request's deadline, then reads the
 * object. Throws the workflow's refusal as a ServiceError. When there is no object: ServiceUnavailable or
 * OutcomeUnknown if the outcome of its creation stayed unknown; otherwise, as the record was lost (rules 10.19),
 * RecordLost for a creation with an Idempotency-Key, NotFound for all others.
 */
export async function callThenRead<Stored>(
  temporal: TemporalAccess,
  object: ObjectCall<Stored>,
  call: () => Promise<void>,
): Promise<Stored> {
  const { kind, purpose } = object;
  const labels = { object: kind.metric_label, purpose };
  const began = performance.now();
  const ended = (result: UpdateResult) => {
    incrementCounter('payments_temporal_updates_total', { ...labels, result });
    measure('payments_temporal_update_duration_seconds', labels, (performance.now() - began) / 1_000);
  };
  try {
    const { view, is_known } = await callAndRead(temporal, object, call);
    ended(is_known ? 'carried_out' : 'unknown');
    return view;
  } catch (error) {
    ended(resultOf(error));
    throw error;
  }
}

type UpdateResult = LabelsOf<'payments_temporal_updates_total'>['result'];

/** The result of an update that ended with an error, as metrics name it. */
function resultOf(error: unknown): UpdateResult {
  if (error instanceof OutcomeUnknown) return 'unknown';
  if (error instanceof ServiceError) return error.error === 'ServiceUnavailable' ? 'unavailable' : 'refused';
  return isUnavailable(error) ? 'unavailable' : 'failed';
}

/** `is_known`: whether the outcome of the call is known; the view may be without its effect otherwise. */
async function callAndRead<Stored>(
  { client, db }: TemporalAccess,
  { kind, id, request, purpose }: ObjectCall<Stored>,
  call: () => Promise<void>,
): Promise<{ view: Stored; is_known: boolean }> {
  const { deadline_at } = request;
  const subject = `${kind.noun} ${id}`;
  const read = () => kind.find(db, id);
  let is_known: boolean;
  try {
    is_known = await client.withDeadline(deadline_at, () => callUntilKnown(deadline_at, call));
  } catch (error) {
    const refusal = refusalOf(error, subject);
    if (purpose === 'change' || !isServiceError(refusal, 'ServiceUnavailable')) throw refusal;
    return { view: await withdrawOrRead(db, request, { refusal, read }), is_known: false };
  }
  // Retry: the call may have moved money, and a database that is busy for a moment must not hide that.
  const view = await retryUntil(deadline_at, isUnavailable, read);
  if (view !== undefined) return { view, is_known };
  if (is_known && purpose === 'create' && request.has_idempotency_key) throw new RecordLost();
  if (is_known || purpose !== 'create') throw notFound(subject);
  return { view: await withdrawOrRead(db, request, { refusal: unavailable(), read }), is_known: false };
}

/**
 * Ends a request without a record so far; a worker may be writing it at this moment. A request without an
 * Idempotency-Key is withdrawn before `refusal` says that nothing was stored. If it cannot be withdrawn, returns the
 * record if there is one by now, otherwise throws OutcomeUnknown.
 */
async function withdrawOrRead<Stored>(
  db: Database,
  { request_id, has_idempotency_key }: AcceptedRequest,
  { refusal, read }: { refusal: ServiceError; read: () => Promise<Stored | undefined> },
): Promise<Stored> {
  if (has_idempotency_key) throw keyMayBeSentAgain();
  if (await withdrawRequest(db, request_id)) throw refusal;
  // The deadline has passed: read once more, for a short time.
  const view = await Promise.race([read(), setTimeout(READ_AGAIN_MS, undefined, { ref: false })]);
  if (view === undefined) throw new OutcomeUnknown();
  return view;
}

/** Time limit of the last read after the deadline. Milliseconds. */
const READ_AGAIN_MS = 1_500;

/**
 * Makes a call that is safe to repeat, until the deadline if there is one. Throws ServiceUnavailable when its outcome
 * is still unknown then.
 */
export async function callOnce(
  client: Client,
  deadline_at: number | undefined,
  call: () => Promise<void>,
): Promise<void> {
  if (deadline_at === undefined) return await call();
  try {
    await client.withDeadline(deadline_at, call);
  } catch (error) {
    if (isRefusedByTemporal(error)) throw unavailable();
    throw isOutcomeUnknown(error) ? unanswered() : error;
  }
}

/** Makes a call to a workflow. Resolves to `false`, instead of an error, when the workflow is closed or unknown. */
export async function unlessClosed(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (!isWorkflowClosed(error)) throw error;
    return false;
  }
}

/**
 * Calls again while the outcome is unknown or the database is busy, until the deadline. Resolves with whether the
 * outcome is known. Temporal may drop an update at any moment: before a worker sees it, or after its work is done, when
 * a signal arrives while the workflow is about to end. Every handler is safe to repeat. Updates are repeated only here
 * (observeCalls): an update that Temporal refuses may still have been carried out by an earlier attempt without an
 * answer.
 */
async function callUntilKnown(deadline_at: number, call: () => Promise<void>): Promise<boolean> {
  let may_be_carried_out = false;
  const isUnknown = (error: unknown) => {
    may_be_carried_out ||= isOutcomeUnknown(error);
    return isOutcomeUnknown(error) || (isRefusedByTemporal(error) && may_be_carried_out);
  };
  try {
    await retryUntil(deadline_at, (error) => isUnknown(error) || isUnavailable(error), call);
    return true;
  } catch (error) {
    if (isUnknown(error)) return false;
    throw error;
  }
}

/** The first pause before a call is repeated; doubled each time. Milliseconds. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** The shortest pause while Temporal is overloaded. Milliseconds. */
const EXHAUSTED_PAUSE_MS = 1_000;

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
      const wanted = isExhausted(error) ? Math.max(pause, EXHAUSTED_PAUSE_MS) : pause;
      // Jitter: calls that failed together are not repeated together.
      await setTimeout(Math.min(left, wanted * (0.75 + Math.random() / 2)));
    }
  }
}
