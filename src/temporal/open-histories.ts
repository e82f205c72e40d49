import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import type { temporal } from '@temporalio/proto';
import { moveWorkflow, openOfOthers, type WorkflowRun } from './deployment';

/** Histories that are fetched ahead of the replay. */
const AHEAD = 16;
/** Replays at a time: more take memory, and processor time from payments. */
const WORKERS = 2;

/** How the replay of an open workflow ended. */
export interface ReplayedRun extends WorkflowRun {
  /** Why its version of the code could not continue it; `undefined`: it can. */
  problem: string | undefined;
}

/** What a replay needs. */
export interface ReplayOptions {
  bundle_path: string;
  dataConverter: DataConverter;
  /** Ends the replay early. */
  signal?: AbortSignal;
}

/**
 * Replays the histories of all open workflows that a query of Temporal's visibility finds, with the workflows in a
 * bundle, and passes each result to `replayed`. Nothing is written. Rejects when Temporal does not answer.
 */
export async function replayOpenWorkflows(
  client: Client,
  query: string,
  { bundle_path, dataConverter, signal }: ReplayOptions,
  replayed: (run: ReplayedRun) => unknown,
): Promise<void> {
  const source = fetchHistories(client, query);
  const replay = async () => {
    let current: WorkflowRun | undefined;
    async function* histories() {
      for (;;) {
        const next = await source.next();
        if (next.done || signal?.aborted) return;
        current = next.value.run;
        yield { workflowId: current.workflow_id, history: next.value.history };
      }
    }
    const options = { workflowBundle: { codePath: bundle_path }, dataConverter };
    // One worker replays one history at a time.
    for await (const { error } of Worker.runReplayHistories(options, histories())) {
      await replayed({ ...current!, problem: error?.message });
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, replay));
}

/** What became of the open workflows of other versions. */
export interface Drained {
  moved: number;
  /** Those that need workers of their own version, each with the reason. */
  stay: ReplayedRun[];
}

/**
 * Moves the open workflows of other versions whose histories replay with this version's bundle to this version.
 */
export async function drainOthers(client: Client, version: string, options: ReplayOptions): Promise<Drained> {
  const drained: Drained = { moved: 0, stay: [] };
  await replayOpenWorkflows(client, openOfOthers(version), options, async (run) => {
    if (run.problem !== undefined) drained.stay.push(run);
    else if (await moveWorkflow(client, run, version)) drained.moved += 1;
  });
  return drained;
}

interface FetchedHistory {
  run: WorkflowRun;
  history: temporal.api.history.v1.IHistory;
}

/** Several at a time; one that has ended meanwhile and is gone is left out. */
async function* fetchHistories(client: Client, query: string): AsyncGenerator<FetchedHistory> {
  const ahead: Promise<FetchedHistory | undefined>[] = [];
  const next = async function* () {
    const fetched = await ahead.shift();
    if (fetched !== undefined) yield fetched;
  };
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    const fetched = fetchHistory(client, { workflow_id: workflowId, run_id: runId });
    // It is reported where it is awaited.
    fetched.catch(() => undefined);
    ahead.push(fetched);
    if (ahead.length >= AHEAD) yield* next();
  }
  while (ahead.length > 0) yield* next();
}

async function fetchHistory(client: Client, run: WorkflowRun): Promise<FetchedHistory | undefined> {
  try {
    const history = await client.workflow.getHandle(run.workflow_id, run.run_id).fetchHistory();
    return { run, history };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
