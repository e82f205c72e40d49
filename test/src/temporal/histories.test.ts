import type { Client } from '@temporalio/client';
import { Histories } from '../../../src/temporal/histories';

test('rules 29.5: refused creations are looked at one by one, so that an erasure of thousands is seen to work', async () => {
  const results: Record<string, string> = { a: 'refused', b: 'completed', c: 'refused' };
  const steps: string[] = [];
  const client = {
    workflow: {
      list: async function* () {
        for (const workflowId of Object.keys(results)) yield { workflowId, runId: 'r' };
      },
      getHandle: (workflowId: string) => ({
        result: async () => {
          steps.push(`read ${workflowId}`);
          return results[workflowId];
        },
      }),
    },
  } as unknown as Client;
  const histories = new Histories({ client } as ConstructorParameters<typeof Histories>[0]);
  const heartbeat = () => void steps.push('heartbeat');
  for await (const id of histories.refusedOrders('p', heartbeat)) steps.push(`erase ${id}`);
  expect(steps).toEqual([
    ...['heartbeat', 'read a', 'erase a'],
    ...['heartbeat', 'read b'],
    ...['heartbeat', 'read c', 'erase c'],
  ]);
});
