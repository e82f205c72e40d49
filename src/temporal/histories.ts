import { setTimeout as sleep } from 'node:timers/promises';
import { FOLLOW_UP_WORKFLOW, ORDER_WORKFLOW } from '../../workflows/messages';
import type { TemporalAccess } from './call';
import { undefinedIfNotFound } from './call-errors';
import { grpcStatusOf, type GrpcStatus } from './grpc-status';

/** How long the deletion of a run may take, and the pauses after which it is looked for. Milliseconds. */
const DELETED_MS = { within: 20_000, pauses: [50, 100, 200, 400] };

/** Deletes what Temporal keeps of a workflow: the inputs and results in its histories. */
export class Histories {
  constructor(private readonly temporal: Pick<TemporalAccess, 'client'>) {}

  /**
   * Deletes all runs of a workflow; one that runs is terminated. Returns whether one ran: the caller has it go on from
   * the record. When it returns they are gone. Repeat-safe; throws an Error when a run stays.
   */
  async delete(workflow_id: string): Promise<boolean> {
    const { workflow } = this.temporal.client;
    const current = await this.find(workflow_id);
    const run_ids = new Set(current && [current.runId]);
    for await (const run of workflow.list({ query: `WorkflowId = '${workflow_id}'` })) run_ids.add(run.runId);
    await Promise.all([...run_ids].map((run_id) => this.deleteRun(workflow_id, run_id)));
    return current?.status.name === 'RUNNING';
  }

  /** The ids of the workflows that follow a payment order and are closed. */
  async closedFollowUps(order_id: string): Promise<string[]> {
    const query = `RelatedOrderId = '${order_id}' and WorkflowType = '${FOLLOW_UP_WORKFLOW}'`;
    const [closed, running] = [new Set<string>(), new Set<string>()];
    for await (const { workflowId, status } of this.temporal.client.workflow.list({ query })) {
      (status.name === 'RUNNING' ? running : closed).add(workflowId);
    }
    return [...closed].filter((id) => !running.has(id));
  }

  /**
   * The ids of the workflows of a project's payment orders that refused their creation, one after the other: after an
   * outage there may be thousands. `onRead` is called before each that is looked at; what it throws ends the list.
   */
  async *refusedOrders(project_id: string, onRead: () => void): AsyncGenerator<string> {
    const { workflow } = this.temporal.client;
    const ended = `ExecutionStatus = 'Completed' and OrderStatus = 'new'`;
    const query = `ProjectId = '${project_id}' and WorkflowType = '${ORDER_WORKFLOW}' and ${ended}`;
    for await (const { workflowId, runId } of workflow.list({ query })) {
      onRead();
      const result: unknown = await workflow.getHandle(workflowId, runId).result().catch(undefinedIfNotFound);
      if (result === 'refused') yield workflowId;
    }
  }

  /** Asks again until the run is gone: Temporal drops a deletion that comes while it still closes the run. */
  private async deleteRun(workflowId: string, runId: string): Promise<void> {
    const { workflowService, options } = this.temporal.client;
    const request = { namespace: options.namespace, workflowExecution: { workflowId, runId } };
    const give_up = performance.now() + DELETED_MS.within;
    for (let tries = 0; ; tries += 1) {
      // A running one is terminated by the same call.
      await workflowService.deleteWorkflowExecution(request).catch((error: unknown) => {
        if (!MAY_FAIL.includes(grpcStatusOf(error))) throw error;
      });
      await sleep(DELETED_MS.pauses[tries] ?? DELETED_MS.pauses.at(-1)!);
      if ((await this.find(workflowId, runId)) === undefined) return;
      if (performance.now() > give_up) throw new Error(`Temporal does not delete run ${runId} of ${workflowId}`);
    }
  }

  /** The run, or the last one; `undefined` when there is none. */
  private async find(workflow_id: string, run_id?: string) {
    return await this.temporal.client.workflow.getHandle(workflow_id, run_id).describe().catch(undefinedIfNotFound);
  }
}

/** It is gone already, or still being closed. */
const MAY_FAIL: readonly (GrpcStatus | undefined)[] = ['not_found', 'failed_precondition'];
