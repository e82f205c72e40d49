import type { Client } from '@temporalio/client';

/** Queries of Temporal's visibility, which lists workflows. */

/** Open workflows. */
export const ALL_OPEN = `ExecutionStatus = 'Running'`;

/** Workflows of these types. */
export const ofTypes = (types: readonly string[]): string =>
  `WorkflowType in (${types.map((type) => `'${type}'`).join(', ')})`;

/** A run of a workflow. */
export interface WorkflowRun {
  workflow_id: string;
  run_id: string;
}

/** The runs that a query finds. */
export async function* listRuns(client: Client, query: string): AsyncGenerator<WorkflowRun> {
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    yield { workflow_id: workflowId, run_id: runId };
  }
}

/**
 * How many workflows began before an instant (ISO 8601): those that are open, and the closed ones whose histories are
 * kept. Rejects when Temporal does not answer.
 */
export async function countBegunBefore(client: Client, instant: string): Promise<{ open: number; closed: number }> {
  const begun = `StartTime <= '${instant}'`;
  const [all, open] = await Promise.all(
    [begun, `${begun} and ${ALL_OPEN}`].map((query) => client.workflow.count(query)),
  );
  return { open: open!.count, closed: all!.count - open!.count };
}
