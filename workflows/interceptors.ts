import {
  ApplicationFailure,
  CancellationScope,
  TemporalFailure,
  log,
  workflowInfo,
  type WorkflowInterceptorsFactory,
} from '@temporalio/workflow';
import { oneAtATime } from '../src/domain/one-at-a-time';
import { callingAsTasks } from './activities';
import { Causes, withCauseHeaders, withTrace, type Cause } from './causes';
import { afterUpdates } from './object/activation';
import { moveStoppedClocks, stopClocks, temporalClock } from './object/clock';
import { requireStart } from './inputs';
import { NO_FREE_SLOT, type LocalRetry } from './messages';
import { trustedArguments } from './payload-converter';
import { RecordWatch } from './object/record-missing';

/**
 * Wraps every workflow. Temporal's own cancellation, a button in its Web UI, has no effect: it could interrupt a
 * charge, and merchants cancel orders through the API. A plain Error in an update handler would fail the workflow task
 * for ever and block the order; here it rejects only that update, and the API logs the details.
 *
 * Local activities run one at a time, and the result of one that outlasts its workflow task is handled after everything
 * else of the task that delivers it. The live run gets these events one by one, but a replay gets them together, and
 * the workflow would continue in another order than its history. For the same reason clocks stand still meanwhile.
 *
 * After a long retry pause the SDK schedules a local activity again with the same input: the activity also receives the
 * time since the first schedule (rules 4.15). A workflow whose record is lost ends (rules 10.19).
 *
 * Messages that were not encrypted for the workflow are not accepted (rules 24.8): an update is rejected, a signal
 * ignored, and a workflow started by one fails. A workflow started with an invalid input also fails at once (rules
 * 24.10).
 *
 * Activities get the request and the trace that caused them as headers (rules 24.15, 24.16). Without traces only local
 * activities have headers, which no history keeps.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  /** When and by what each local activity was first scheduled, by its arguments. */
  const scheduled = new WeakMap<unknown[], { at: number; cause: Cause }>();
  const causes = new Causes();
  const record = new RecordWatch();
  const commands = new CommandLimit();
  const oneLocalActivityAtATime = oneAtATime();
  return {
    inbound: [
      {
        async execute(input, next) {
          const args = trustedArguments(input.args);
          const info = workflowInfo();
          // A running workflow may have been started before this check existed.
          if (!info.unsafe.isReplaying) requireStart(info, args[0]);
          causes.started(input.headers, args, info.continuedFromExecutionRunId !== undefined);
          return await CancellationScope.nonCancellable(() => record.runWorkflow(() => next({ ...input, args })));
        },
        validateUpdate(input, next) {
          next({ ...input, args: trustedArguments(input.args, input.name) });
        },
        async handleUpdate(input, next) {
          const args = trustedArguments(input.args, input.name);
          return await CancellationScope.nonCancellable(() => {
            causes.handling(input.headers, args);
            return orRefused(() => next({ ...input, args }));
          });
        },
        async handleSignal(input, next) {
          let args: unknown[];
          try {
            args = trustedArguments(input.args);
          } catch (error) {
            return log.warn('a signal is ignored', { signal: input.signalName, reason: (error as Error).message });
          }
          causes.received(input.headers, args);
          await next({ ...input, args });
        },
      },
    ],
    outbound: [
      {
        async startTimer(input, next) {
          commands.count(workflowInfo().historyLength);
          const at = temporalClock.now() + input.durationMs;
          await next(input);
          moveStoppedClocks(at);
          causes.timerFired();
        },
        async scheduleActivity(input, next) {
          commands.count(workflowInfo().historyLength);
          const headers = withTrace(input.headers, causes.current());
          return await record.runActivity(() => next({ ...input, headers }));
        },
        async scheduleLocalActivity(input, next) {
          commands.count(workflowInfo().historyLength);
          const now = temporalClock.now();
          const first = scheduled.get(input.args);
          const { at, cause } = first ?? { at: now, cause: causes.current() };
          if (first === undefined) scheduled.set(input.args, { at, cause });
          const retry: LocalRetry = { waited_ms: now - at };
          const args = first === undefined ? input.args : [...input.args, retry];
          const headers = withCauseHeaders(input.headers, cause);
          const activity = () => afterTheRestOfItsTask(() => next({ ...input, args, headers }));
          try {
            return await oneLocalActivityAtATime(() => record.runActivity(activity));
          } catch (failure) {
            if (!(failure instanceof ApplicationFailure) || failure.type !== NO_FREE_SLOT) throw failure;
            // The time of the tries before counts on (rules 4.15).
            const waited: LocalRetry = { waited_ms: temporalClock.now() - at };
            return await callingAsTasks[input.activityType]!(...input.args, waited);
          }
        },
        async continueAsNew(input, next) {
          return await next({ ...input, headers: withTrace(input.headers, causes.current()) });
        },
      },
    ],
  };
};

/**
 * Runs a local activity. If it outlasts its workflow task, the result waits until the workflow has handled the signals,
 * updates and timers of the task that delivers it: in a replay they come in one activation. Until then the clocks of
 * the workflow show the time at which the activity began.
 */
async function afterTheRestOfItsTask<Result>(activity: () => Promise<Result>): Promise<Result> {
  const { historyLength } = workflowInfo();
  const startClocks = stopClocks();
  try {
    return await activity();
  } finally {
    if (workflowInfo().historyLength !== historyLength) await afterUpdates();
    startClocks();
  }
}

/** Far more than a task of these workflows ever needs. */
const COMMANDS_MAX = 1_000;

/**
 * Fails a workflow task that starts timers or activities in an endless loop. Temporal shows the error and retries with
 * growing pauses. Without the limit the loop would exhaust the worker's memory, or run until the SDK interrupts it, at
 * which Node ends the whole worker.
 */
export class CommandLimit {
  private task = 0;
  private counted = 0;

  /** `history_length` differs in each workflow task. */
  count(history_length: number): void {
    this.counted = history_length === this.task ? this.counted + 1 : 1;
    this.task = history_length;
    if (this.counted > COMMANDS_MAX) throw new Error(`a workflow task starts more than ${COMMANDS_MAX} things`);
  }
}

/** Runs an update; an undeclared Error refuses it with ServerError. */
export async function orRefused<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TemporalFailure) throw error;
    throw ApplicationFailure.create({
      type: 'ServerError',
      message: 'Unexpected error inside the service.',
      nonRetryable: true,
      cause: error as Error,
    });
  }
}
