import type { Client } from '@temporalio/client';
import type { Database } from '../../../src/db/connection';
import { createWorkflowClients } from '../../../src/temporal/workflows';
import { PROJECT_ID, RELATED_ORDER_ID } from '../../../workflows/messages';

test('a webhook is started under the name of order and move, on the queue of webhooks, fairly among projects', async () => {
  const started: unknown[] = [];
  const start = (...workflow: unknown[]) => (started.push(workflow), Promise.resolve());
  const client = { workflow: { start } } as unknown as Client;
  await createWorkflowClients({ client, db: undefined as unknown as Database }).deliveries.start({
    order_id: 'o',
    n: 3,
    project_id: 'p',
  });
  expect(started).toEqual([
    [
      'webhookDelivery',
      {
        workflowId: 'webhook:o:3',
        taskQueue: 'webhooks',
        args: [{ order_id: 'o', n: 3 }],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        priority: { fairnessKey: 'p' },
        typedSearchAttributes: [
          { key: PROJECT_ID, value: 'p' },
          { key: RELATED_ORDER_ID, value: 'o' },
        ],
        staticSummary: 'Webhook 3 of order o',
      },
    ],
  ]);
});
