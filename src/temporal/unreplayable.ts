import { temporal } from '@temporalio/proto';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Logger } from '../log';
import type { WorkflowRun } from './deployment';
import { KINDS } from './kinds';

const { ResetReapplyExcludeType } = temporal.api.enums.v1;

/** Types of workflows that continue from their rows (rules 10.13). */
const RECORDED_TYPES = [
  KINDS.order,
  KINDS.follow_up,
  KINDS.payment_link,
  KINDS.delivery,
  KINDS.webhook_recovery,
  KINDS.erasure,
  KINDS.sandbox_clock,
].map(({ type }) => type);

/** Temporal says so of a workflow after a few attempts of the same task, about a minute after the first. */
const UNREPLAYABLE = [
  `ExecutionStatus = 'Running'`,
  `TemporalReportedProblems = 'cause=WorkflowTaskFailedCauseNonDeterministicError'`,
  `WorkflowType in (${RECORDED_TYPES.map((type) => `'${type}'`).join(', ')})`,
].join(' and ');

/** The first task of a workflow is among so many events, also if signals came with the start. */
const FIRST_EVENTS = 50;

/**
 * Resets each running workflow whose history its workers cannot replay to its start, from where it goes on with its
 * record (rules 10.13). Its messages are not applied again: what they changed is in the record, and a request that has
 * no answer is repeated. The old run is kept as a terminated one. Rejects when Temporal does not answer.
 */
export async function resetUnreplayable(client: Client, log: Logger): Promise<void> {
  for await (const { workflowId: workflow_id, runId: run_id } of client.workflow.list({ query: UNREPLAYABLE })) {
    const run = { workflow_id, run_id };
    if (await resetToStart(client, run)) log.warn(run, 'the history of a workflow does not replay: it starts again');
  }
}

/** `false`: the run has ended since it was listed. */
async function resetToStart(client: Client, { workflow_id, run_id }: WorkflowRun): Promise<boolean> {
  const { workflowService, options } = client;
  const { namespace } = options;
  const execution = { workflowId: workflow_id, runId: run_id };
  try {
    const { status } = await client.workflow.getHandle(workflow_id, run_id).describe();
    if (status.name !== 'RUNNING') return false;
    const page = { namespace, execution, maximumPageSize: FIRST_EVENTS };
    const { history } = await workflowService.getWorkflowExecutionHistory(page);
    const first = history!.events!.find(({ workflowTaskStartedEventAttributes: started }) => started != null);
    if (first === undefined) throw new Error(`run ${run_id} of ${workflow_id} has no task`);
    await workflowService.resetWorkflowExecution({
      namespace,
      workflowExecution: execution,
      reason: 'its history does not replay',
      workflowTaskFinishEventId: first.eventId!,
      // A repeat is not a second reset.
      requestId: run_id,
      resetReapplyExcludeTypes: [
        ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_SIGNAL,
        ResetReapplyExcludeType.RESET_REAPPLY_EXCLUDE_TYPE_UPDATE,
      ],
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
