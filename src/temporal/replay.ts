import { temporal } from '@temporalio/proto';
import { Worker, type WorkflowBundleOption } from '@temporalio/worker';

const { History } = temporal.api.history.v1;

/** The history of one workflow, as JSON of `historyToJson`, and a name for it. */
export interface RecordedHistory {
  name: string;
  history: object;
}

/**
 * A history as plain JSON. Not the SDK's historyToJSON, which needs it and its protocol package to share one copy of
 * protobufjs.
 */
export function historyToJson(history: temporal.api.history.v1.IHistory): object {
  return History.toObject(History.fromObject(history), { longs: String, bytes: String, enums: String });
}

/**
 * Replays recorded histories against workflow code, with which running workflows must be able to continue. Returns the
 * failures by name; none when all pass.
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
