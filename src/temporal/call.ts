import type { Client } from '@temporalio/client';
import { setTimeout } from 'node:timers/promises';
import { isUnavailable, type Database } from '../db/connection';
import { withdrawRequest } from '../db/requests/request-claims';
import type { ApiRequest } from '../domain/api-request';
import { OutcomeUnknown, type ServiceError } from '../errors';
import {
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
import type { Readable } from './kinds';

/** The access that every call needs: to Temporal, and to the record that answers it. */
export interface TemporalAccess {
  client: Client;
  db: Database;
}

/**
 * What a call does with the object: creates it; pays it, which the statement that writes it claims by the request, as it
 * does a creation; or changes it.
 */
export type Purpose = 'create' | 'pay' | 'change';

/** A call that is answered with the record of an object. */
interface ObjectCall<View> {
  kind: Readable<View>;
  id: string;
  request: ApiRequest;
  purpose: Purpose;
}

/**
 * Makes a call to Temporal within the request's deadline, again while its outcome is unknown, then reads the object.
 * Throws the workflow's refusal as a ServiceError; without an object, ServiceUnavailable or OutcomeUnknown when the
 * outcome of its creation stayed unknown, NotFound otherwise: what was recorded before and is not any more is lost, and
 * nothing is known of the call (rules 10.19).
 */
export async function callThenRead<View>(
  { client, db }: TemporalAccess,
  { kind, id, request, purpose }: ObjectCall<View>,
  call: () => Promise<void>,
): Promise<View> {
  const { deadline_at } = request;
  const subject = `${kind.noun} ${id}`;
  const read = () => kind.find(db, id);
  let is_known: boolean;
  try {
    is_known = await client.withDeadline(deadline_at, () => callUntilKnown(deadline_at, call));
  } catch (error) {
    const refusal = refusalOf(error, subject);
    if (purpose === 'change' || !isServiceError(refusal, 'ServiceUnavailable')) throw refusal;
    return await withdrawOrRead(db, request, { refusal, read });
  }
  // The call may have moved money: a database that is busy for a moment must not hide that.
  const view = await retryUntil(deadline_at, isUnavailable, read);
  if (view !== undefined) return view;
  if (is_known || purpose !== 'create') throw notFound(subject);
  return await withdrawOrRead(db, request, { refusal: unavailable(), read });
}

/**
 * Ends a request that nothing is recorded of, so far: a worker may be writing it at this moment. One without an
 * Idempotency-Key is withdrawn before `refusal` says that nothing was stored. Where it cannot be withdrawn, returns what
 * is recorded by now, or throws OutcomeUnknown.
 */
async function withdrawOrRead<View>(
  db: Database,
  { request_id, has_idempotency_key }: ApiRequest,
  { refusal, read }: { refusal: ServiceError; read: () => Promise<View | undefined> },
): Promise<View> {
  if (has_idempotency_key) throw keyMayBeSentAgain();
  if (await withdrawRequest(db, request_id)) throw refusal;
  // The answer is late already.
  const view = await Promise.race([read(), setTimeout(READ_AGAIN_MS, undefined, { ref: false })]);
  if (view === undefined) throw new OutcomeUnknown();
  return view;
}

/** How long the record may take to be read once more, after the deadline. Milliseconds. */
const READ_AGAIN_MS = 1_500;

/**
 * Makes a call that is safe to repeat, within the deadline if there is one. Throws ServiceUnavailable when its outcome is
 * unknown then.
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

/** Makes a call to a workflow, and resolves with whether it took it: one that is closed or unknown is no error. */
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
 * Calls again while the outcome is unknown or the database is busy, until the deadline. Resolves with whether the outcome
 * is known. Temporal may drop an update at any moment: before a worker sees it, or with its work done, when a signal
 * arrives while the workflow is about to end. Every handler is safe to repeat. This is the only place that repeats an
 * update (observeCalls): what Temporal refuses after an attempt whose outcome is unknown may have been carried out.
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

/** The pause before a call is repeated: doubled each time. Milliseconds. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** The shortest one before a Temporal that has too much to do is called again. */
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
