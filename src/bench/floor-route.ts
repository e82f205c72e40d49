import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, Connection, WithStartWorkflowOperation } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { TASK_QUEUE } from '../../workflows/messages';
import { FLOOR_WORKFLOW, floorWorkflowId, touch } from './floor';

/** The benchmark's route, which only its own API process has. */
export const FLOOR_PATH = '/bench/floor/';

/** The minimum of creating an order: one Update-with-Start, then the answer. */
export function floorRoute(
  client: Client,
  task_queue = TASK_QUEUE,
): (request: unknown, response: ServerResponse) => Promise<void> {
  return async (_request, response) => {
    const id = uuidv7();
    await client.workflow.executeUpdateWithStart(touch, {
      startWorkflowOperation: new WithStartWorkflowOperation(FLOOR_WORKFLOW, {
        workflowId: floorWorkflowId(id),
        taskQueue: task_queue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
      }),
      updateId: 'touch',
    });
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ id }));
  };
}

/** Where a Temporal server is. */
export interface TemporalPlace {
  address: string;
  namespace: string;
}

/** The task queue of the bare floor's worker. */
export const BARE_TASK_QUEUE = 'bare-floor';

/** Serves the route with Node's HTTP server and the SDK's client as they come, and returns the server's address. */
export async function serveBareFloor({ address, namespace }: TemporalPlace): Promise<string> {
  const client = new Client({ connection: await Connection.connect({ address }), namespace });
  const answer = floorRoute(client, BARE_TASK_QUEUE);
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
