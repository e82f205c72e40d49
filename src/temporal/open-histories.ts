import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import { temporal } from '@temporalio/proto';
import { setTimeout as sleep } from 'node:timers/promises';
import { undefinedIfNotFound } from './call-errors';
import { moveWorkflow, openOfOthers, type WorkerDeployment } from './deployment';
import { listRuns, type WorkflowRun } from './visibility';

const { PENDING_WORKFLOW_TASK_STATE_STARTED: TASK_STARTED } = temporal.api.enums.v1.PendingWorkflowTaskState;

/** Histories that are fetched ahead of the replay. */
const AHEAD = 16;
/** Replays at a time: more take memory, and processor time from payments. */
const WORKERS = 2;

/** How often drain replays a workflow that goes on meanwhile, and the pause before. Milliseconds. */
const TRIES = 5;
const TRY_AGAIN_MS = 1_000;

/** How the replay of an open workflow ended. */
export interface ReplayedRun extends WorkflowRun {
  /** Events of the history that was replayed. */
  events: number;
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
  options: ReplayOptions,
  replayed: (run: ReplayedRun) => unknown,
): Promise<void> {
  await replayRuns(client, listRuns(client, query), options, replayed);
}

async function replayRuns(
  client: Client,
  runs: Iterable<WorkflowRun> | AsyncIterable<WorkflowRun>,
  { bundle_path, dataConverter, signal }: ReplayOptions,
  replayed: (run: ReplayedRun) => unknown,
): Promise<void> {
  const source = fetchHistories(client, runs);
  const replay = async () => {
    let current: Omit<ReplayedRun, 'problem'> | undefined;
    async function* histories() {
      for (;;) {
        const next = await source.next();
        if (next.done || signal?.aborted) return;
        current = { ...next.value.run, events: next.value.history.events?.length ?? 0 };
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
 * Moves the open workflows of other versions whose histories replay with this version's bundle to this version. One
 * that has gone on since its history was read is replayed again, as its old version may have done what this one would
 * not.
 */
export async function drainOthers(
  deployment: WorkerDeployment,
  version: string,
  options: ReplayOptions,
): Promise<Drained> {
  const { client } = deployment;
  const drained: Drained = { moved: 0, stay: [] };
  const move = async (runs: AsyncIterable<WorkflowRun> | Iterable<WorkflowRun>): Promise<ReplayedRun[]> => {
    const went_on: ReplayedRun[] = [];
    await replayRuns(client, runs, options, async (run) => {
      if (run.problem !== undefined) drained.stay.push(run);
      else if (await hasGoneOn(client, run)) went_on.push(run);
      else if (await moveWorkflow(deployment, run, version)) drained.moved += 1;
    });
    return went_on;
  };
  let went_on = await move(listRuns(client, openOfOthers(deployment, version)));
  for (let tries = 2; went_on.length > 0 && tries <= TRIES; tries += 1) {
    await sleep(TRY_AGAIN_MS);
    went_on = await move(went_on);
  }
  const problem = 'It kept adding events while it was replayed, so it was not moved.';
  drained.stay.push(...went_on.map((run) => ({ ...run, problem })));
  return drained;
}

/** Its history has grown since it was replayed, or a worker is about to add to it: a task that runs is not moved. */
async function hasGoneOn(client: Client, { workflow_id, run_id, events }: ReplayedRun): Promise<boolean> {
  const described = await client.workflow.getHandle(workflow_id, run_id).describe().catch(undefinedIfNotFound);
  const task = described?.raw.pendingWorkflowTask?.state;
  return described !== undefined && (described.historyLength > events || task === TASK_STARTED);
}

interface FetchedHistory {
  run: WorkflowRun;
  history: temporal.api.history.v1.IHistory;
}

/** Fetches several at a time. Skips workflows deleted since they were listed. */
async function* fetchHistories(
  client: Client,
  runs: Iterable<WorkflowRun> | AsyncIterable<WorkflowRun>,
): AsyncGenerator<FetchedHistory> {
  const ahead: Promise<FetchedHistory | undefined>[] = [];
  const next = async function* () {
    const fetched = await ahead.shift();
    if (fetched !== undefined) yield fetched;
  };
  for await (const run of runs) {
    const fetched = fetchHistory(client, run);
    // It is reported where it is awaited.
    fetched.catch(() => undefined);
    ahead.push(fetched);
    if (ahead.length >= AHEAD) yield* next();
  }
  while (ahead.length > 0) yield* next();
}

async function fetchHistory(client: Client, run: WorkflowRun): Promise<FetchedHistory | undefined> {
  const history = await client.workflow
    .getHandle(run.workflow_id, run.run_id)
    .fetchHistory()
    .catch(undefinedIfNotFound);
  return history && { run, history };
}
