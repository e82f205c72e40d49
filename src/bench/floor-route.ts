import type { ServerResponse } from 'node:http';
import { WithStartWorkflowOperation, type Client } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { TASK_QUEUE } from '../../workflows/messages';
import { FLOOR_WORKFLOW, floorWorkflowId, touch } from './floor';

/** The benchmark's route, which only its own API process has. */
export const FLOOR_PATH = '/bench/floor/';

/** The minimum of creating an order: one Update-with-Start, then the answer. */
export function floorRoute(client: Client): (request: unknown, response: ServerResponse) => Promise<void> {
  return async (_request, response) => {
    const id = uuidv7();
    await client.workflow.executeUpdateWithStart(touch, {
      startWorkflowOperation: new WithStartWorkflowOperation(FLOOR_WORKFLOW, {
        workflowId: floorWorkflowId(id),
        taskQueue: TASK_QUEUE,
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
      }),
      updateId: 'touch',
    });
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ id }));
  };
}
