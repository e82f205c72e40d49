import { temporal } from '@temporalio/proto';
import {
  DefaultLogger,
  Runtime,
  Worker,
  makeTelemetryFilterString,
  type WorkflowBundleOption,
} from '@temporalio/worker';

const { History } = temporal.api.history.v1;

/** Only errors of the SDK are logged. Call it once in a process, before anything else of the worker's package. */
export function quietRuntime(): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: {
      logging: { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }), forward: {} },
    },
  });
}

/** The history of one workflow, as JSON of `historyToJson`, and a name for it. */
export interface RecordedHistory {
  name: string;
  history: object;
}

/**
 * A history as plain JSON. The SDK's historyToJSON is not used: it works only if the SDK and its protocol package share
 * one copy of protobufjs.
 */
export function historyToJson(history: temporal.api.history.v1.IHistory): object {
  return History.toObject(History.fromObject(history), { longs: String, bytes: String, enums: String });
}

/**
 * Replays recorded histories with the current workflow code, to prove that running workflows can continue with it.
 * Returns the failures by name.
 */
export async function replayHistories(
  bundle: WorkflowBundleOption,
  histories: readonly RecordedHistory[],
): Promise<Record<string, string>> {
  const failures: Record<string, string> = {};
  const recorded = histories.map(({ name, history }) => ({ workflowId: name, history: History.fromObject(history) }));
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle: bundle }, recorded)) {
    if (error !== undefined) failures[workflowId] = error.message;
  }
  return failures;
}
