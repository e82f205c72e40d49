import { AsyncLocalStorage } from 'node:async_hooks';
import {
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type ConnectionOptions,
  type GrpcRetryOptions,
} from '@temporalio/client';
import type { Logger } from '../log';
import { REFUSED, statusOf } from './grpc-status';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Status = Parameters<GrpcRetryOptions['retryableDecider']>[1];

/**
 * The state of the call that is being made, over all its attempts: whether one of them may have been carried out.
 * `is_single`: there is one attempt, as nobody waits for the answer, and a retry could come after the connection is
 * closed.
 */
export const currentCall = new AsyncLocalStorage<{ may_be_carried_out: boolean; is_single?: true }>();

const OK = 0;
const CANCELLED = 1;
const NOT_FOUND = 5;
/** UNKNOWN, RESOURCE_EXHAUSTED, INTERNAL, UNAVAILABLE: Temporal cannot be reached or cannot work. */
const OUTAGE = [2, 8, 13, 14];

/** The calls that a worker answers, and not Temporal alone. */
const UPDATES = /\/(UpdateWorkflowExecution|PollWorkflowExecutionUpdate|ExecuteMultiOperation)$/;

/**
 * Shortest time between two reports of an outage: a server that answers every second call would fill the log.
 * Milliseconds.
 */
const PAUSE_MS = 10_000;

/**
 * Logs when a server stops answering, with the cause, and when it answers again: once each, however many calls fail.
 */
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

/**
 * The SDK's retries of gRPC calls, observed: each attempt tells whether Temporal and the workers answer. An update
 * without an answer may be the fault of either: `ask` resolves when Temporal itself answers (rules 10.16).
 */
export function observedRetries(log: Logger, ask: () => Promise<void>): Interceptor {
  const temporal = new OutageLog(log, { down: 'Temporal is unavailable', up: 'Temporal is available again' });
  const workers = new OutageLog(log, { down: 'no worker answers in time', up: 'workers answer again' });
  const standard = defaultGrpcRetryOptions();
  let asking: Promise<boolean> | undefined;
  /** Whether Temporal answers; where it does not, the call that asks is observed as any other. */
  const temporalAnswers = () =>
    (asking ??= currentCall
      .run({ may_be_carried_out: false, is_single: true }, ask)
      .then(
        () => true,
        () => false,
      )
      .finally(() => (asking = undefined)));
  const updateFailed = async (cause: string, began_at: number) => {
    if (await temporalAnswers()) workers.failed(cause, began_at);
  };
  return (options, nextCall) => {
    const is_update = UPDATES.test(options.method_definition.path);
    const call = currentCall.getStore();
    const began_at = Date.now();
    const retryableDecider = (attempt: number, status: Status) => {
      const cause = `${statusOf(status.code)}: ${status.details}`;
      if (isRefused(status) || OUTAGE.includes(status.code)) temporal.failed(cause, began_at);
      else if (statusOf(status.code) === 'deadline_exceeded') {
        if (is_update) void updateFailed(cause, began_at);
        else temporal.failed(cause, began_at);
      } else if (status.code !== CANCELLED) temporal.answered();
      if (is_update && status.code === OK) workers.answered();
      const is_retried = call?.is_single !== true && standard.retryableDecider(attempt, status);
      if (is_retried && call !== undefined) call.may_be_carried_out = true;
      return is_retried;
    };
    return makeGrpcRetryInterceptor({ ...standard, retryableDecider })(options, nextCall);
  };
}

function isRefused({ code, details }: Status): boolean {
  return REFUSED.includes(statusOf(code)) || (code === NOT_FOUND && /^Namespace /i.test(details));
}
