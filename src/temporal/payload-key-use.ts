import type { Client } from '@temporalio/client';

/**
 * How many workflows began before an instant (ISO 8601): those that are open, and the closed ones whose histories are
 * kept. Rejects when Temporal does not answer.
 */
export async function countBegunBefore(client: Client, instant: string): Promise<{ open: number; closed: number }> {
  const begun = `StartTime <= '${instant}'`;
  const [all, open] = await Promise.all(
    [begun, `${begun} AND ExecutionStatus = 'Running'`].map((query) => client.workflow.count(query)),
  );
  return { open: open!.count, closed: all!.count - open!.count };
}
