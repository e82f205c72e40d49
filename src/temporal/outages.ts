import {
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type ConnectionOptions,
  type GrpcRetryOptions,
} from '@temporalio/client';
import { messageOf } from '../errors';
import type { Logger } from '../log';
import { REFUSED, statusOf, type GrpcStatus } from './grpc-status';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type NextCall = Parameters<Interceptor>[1];
type Status = Parameters<GrpcRetryOptions['retryableDecider']>[1];

/** Temporal cannot be reached or cannot work. */
const OUTAGE: readonly GrpcStatus[] = ['unknown', 'resource_exhausted', 'internal', 'unavailable'];

/** The calls that need an answer of a worker. */
const UPDATES = /\/(UpdateWorkflowExecution|PollWorkflowExecutionUpdate|ExecuteMultiOperation)$/;
/**
 * The call of pingTemporal. Not retried: it tells how Temporal is now. Credentials may be refused for it alone; then
 * pingTemporal makes another.
 */
const PING = /\/DescribeNamespace$/;

/**
 * Shortest time between two reports of an outage: a server that answers every second call would fill the log.
 * Milliseconds.
 */
const PAUSE_MS = 10_000;

/** Logs once when a server stops answering, with the cause, and once when it answers again, however many calls fail. */
export class OutageLog {
  private since: number | undefined;
  private answered_at = 0;
  private reported_at = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly log: Logger,
    private readonly messages: { down: string; up: string },
  ) {}

  /** A call that began at `began_at` failed. Not an outage if another call was answered since it began. */
  failed(cause: string, began_at: number, now = Date.now()): void {
    if (this.since !== undefined || this.answered_at > began_at || now - this.reported_at < PAUSE_MS) return;
    this.since = now;
    this.reported_at = now;
    this.log.error({ cause }, this.messages.down);
  }

  answered(now = Date.now()): void {
    this.answered_at = now;
    if (this.since === undefined) return;
    this.log.info({ seconds: Math.round((now - this.since) / 1_000) }, this.messages.up);
    this.since = undefined;
  }
}

/** The servers that an update needs besides a worker. Each rejects with the cause when its server does not work. */
export interface ServerChecks {
  temporal: () => Promise<void>;
  /** Without it, a worker is blamed for a database that does not work. */
  database?: () => Promise<void>;
}

/**
 * Observes every attempt of a gRPC call: whether Temporal and the workers answer. An update without an answer may be
 * the fault of Temporal, of the database or of the workers, in this order: the workers are named only while both
 * servers work (rules 10.16). Failed calls are repeated by the SDK, except updates: callThenRead repeats those, as it
 * must know whether an attempt may have been carried out.
 */
export function observeCalls(log: Logger, check: ServerChecks): Interceptor {
  const temporal = new OutageLog(log, { down: 'Temporal is unavailable', up: 'Temporal is available again' });
  const workers = new OutageLog(log, { down: 'no worker answers in time', up: 'workers answer again' });
  const database = new OutageLog(log, { down: 'Postgres is unavailable', up: 'Postgres is available again' });
  const standard = defaultGrpcRetryOptions();
  let pinging: Promise<boolean> | undefined;
  /** Whether Temporal answers. A failed ping is observed like any other call. */
  const temporalAnswers = () =>
    (pinging ??= check
      .temporal()
      .then(
        () => true,
        () => false,
      )
      .finally(() => (pinging = undefined)));
  const updateFailed = async (cause: string, began_at: number) => {
    if (!(await temporalAnswers())) return;
    await (check.database?.() ?? Promise.resolve()).then(
      () => workers.failed(cause, began_at),
      (error: unknown) => database.failed(messageOf(error), began_at),
    );
  };
  return (options, nextCall) => {
    const { path } = options.method_definition;
    const is_update = UPDATES.test(path);
    const is_repeated = !is_update && !PING.test(path);
    const began_at = Date.now();
    let last: Status | undefined;
    let is_closed = false;
    const retryableDecider = (attempt: number, status: Status) => {
      last = status;
      const code = statusOf(status.code);
      const cause = `${code}: ${status.details}`;
      if (PING.test(path) && code === 'permission_denied') return false;
      if (isRefused(status) || OUTAGE.includes(code)) temporal.failed(cause, began_at);
      else if (isTimeout(status, options.deadline)) {
        if (is_update) void updateFailed(cause, began_at);
        else temporal.failed(cause, began_at);
      } else if (code !== 'cancelled') temporal.answered();
      if (is_update && code === 'ok') {
        workers.answered();
        database.answered();
      }
      return is_repeated && !is_closed && standard.retryableDecider(attempt, status);
    };
    // A connection that was closed while the SDK waited for the next attempt throws, in the SDK's timer: the process
    // would end. The call ends as its last attempt has ended.
    const nextAttempt: NextCall = (attempt) => {
      try {
        return nextCall(attempt);
      } catch (error) {
        if (last === undefined) throw error;
        is_closed = true;
        return endedCall(last);
      }
    };
    return makeGrpcRetryInterceptor({ ...standard, retryableDecider })(options, nextAttempt);
  };
}

/** A call that ends with a status as soon as it starts. */
function endedCall(status: Status): ReturnType<NextCall> {
  const call: Pick<ReturnType<NextCall>, 'start' | 'sendMessage' | 'halfClose'> = {
    start: (_metadata, listener) => listener?.onReceiveStatus?.(status),
    sendMessage: () => undefined,
    halfClose: () => undefined,
  };
  return call as ReturnType<NextCall>;
}

/** A call ends at its deadline: by the client, or as CANCELLED by the server. */
function isTimeout({ code }: Status, deadline: Date | number | undefined): boolean {
  return statusOf(code) === 'deadline_exceeded' || (statusOf(code) === 'cancelled' && Number(deadline) <= Date.now());
}

/** Whether Temporal refuses the credentials, or does not know the namespace. */
export function isRefused({ code, details }: Pick<Status, 'code' | 'details'>): boolean {
  return REFUSED.includes(statusOf(code)) || (statusOf(code) === 'not_found' && /^Namespace /i.test(details));
}
