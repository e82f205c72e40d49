import type { Client } from '@temporalio/client';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow';
import type { temporal } from '@temporalio/proto';
import { HOUR_MS } from '../domain/period';
import { payloadConverter, trustedArguments } from '../../workflows/payload-converter';
import { ALL_OPEN, ofTypes } from './visibility';
import { toIsoTime } from '../time';

/** What Temporal still knows of objects whose record was lost (rules 28): the inputs in their histories. */

/** A workflow of an object, by its first and last run since an instant. Instants in epoch milliseconds. */
export interface SeenWorkflow {
  workflow_id: string;
  type: string;
  started: number;
  /** The run that is open, if there is one. */
  open_run_id: string | undefined;
}

/** An update that a workflow accepted. */
export interface SentUpdate {
  name: string;
  input: unknown;
  /** `unanswered`: its worker died, or the workflow ended before. */
  result: 'done' | 'refused' | 'unanswered';
}

/** The inputs of a workflow's runs, oldest first. */
export interface SentInputs {
  /** Of its first run that Temporal still has. */
  start: unknown;
  updates: SentUpdate[];
  /** Every run ended with the result `refused`. */
  is_refused: boolean;
  /** The result of the last run that has one: the final status of an order, if it is that. */
  result: unknown;
}

/** What Temporal lacks of the workflows that ended since an instant (epoch milliseconds), in words for operators. */
export async function lackingSince(client: Client, since: number): Promise<string | undefined> {
  const { config } = await client.connection.workflowService.describeNamespace({ namespace: client.options.namespace });
  const hours = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / 3_600;
  const oldest = Date.now() - hours * HOUR_MS;
  if (since >= oldest) return undefined;
  return `Temporal keeps closed workflows for ${hours} hours: what ended before ${toIsoTime(oldest)}, erasures too, cannot be written again.`;
}

/** The workflows of these types that were started, or ended, since an instant (epoch milliseconds), oldest first. */
export async function workflowsSince(client: Client, types: readonly string[], since: number): Promise<SeenWorkflow[]> {
  const instant = toIsoTime(since);
  const seen = new Map<string, SeenWorkflow>();
  for (const when of [`StartTime >= '${instant}'`, `CloseTime >= '${instant}'`, ALL_OPEN]) {
    for await (const run of client.workflow.list({ query: `${ofTypes(types)} and ${when}` })) {
      const known = seen.get(run.workflowId);
      seen.set(run.workflowId, {
        workflow_id: run.workflowId,
        type: run.type,
        started: Math.min(known?.started ?? Number.POSITIVE_INFINITY, run.startTime.getTime()),
        open_run_id: run.status.name === 'RUNNING' ? run.runId : known?.open_run_id,
      });
    }
  }
  return [...seen.values()].toSorted((a, b) => a.started - b.started);
}

/** Reads the inputs from the histories of all runs of a workflow, decrypted. */
export async function sentInputs(client: Client, workflow_id: string): Promise<SentInputs> {
  const runs: { run_id: string; started: number }[] = [];
  for await (const run of client.workflow.list({ query: `WorkflowId = '${workflow_id}'` })) {
    runs.push({ run_id: run.runId, started: run.startTime.getTime() });
  }
  const inputs: SentInputs = { start: undefined, updates: [], is_refused: runs.length > 0, result: undefined };
  for (const { run_id } of runs.toSorted((a, b) => a.started - b.started)) {
    const { events } = await client.workflow.getHandle(workflow_id, run_id).fetchHistory();
    const result = await addRun(client, inputs, events ?? []);
    inputs.is_refused &&= result === 'refused';
    inputs.result = result ?? inputs.result;
  }
  return inputs;
}

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
type Payloads = temporal.api.common.v1.IPayloads | null | undefined;

/** Returns its result, if it is completed. */
async function addRun(client: Client, inputs: SentInputs, events: readonly HistoryEvent[]): Promise<unknown> {
  // As workflows read them: an operator may have sent an update with the Web UI (rules 24.9).
  const converter = { ...client.options.loadedDataConverter, payloadConverter };
  const decoded = async (payloads: Payloads, update?: string) =>
    trustedArguments(await decodeArrayFromPayloads(converter, payloads?.payloads), update)[0];
  const accepted = new Map<string, SentUpdate>();
  let result: unknown;
  for (const event of events) {
    const started = event.workflowExecutionStartedEventAttributes;
    const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest;
    const completed = event.workflowExecutionUpdateCompletedEventAttributes;
    const ended = event.workflowExecutionCompletedEventAttributes;
    if (started) inputs.start ??= await decoded(started.input);
    if (update) {
      const sent: SentUpdate = {
        name: update.input?.name ?? '',
        input: await decoded(update.input?.args, update.input?.name ?? ''),
        result: 'unanswered',
      };
      accepted.set(update.meta?.updateId ?? '', sent);
      inputs.updates.push(sent);
    }
    const answered = completed && accepted.get(completed.meta?.updateId ?? '');
    if (answered) answered.result = completed.outcome?.failure ? 'refused' : 'done';
    if (ended) result = await decoded(ended.result);
  }
  return result;
}
