import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import type { Database } from '../../../src/db/connection';
import { Deliveries } from '../../../src/temporal/deliveries';
import { RELATED_ORDER_ID } from '../../../workflows/messages';

const started: unknown[] = [];
beforeEach(() => void started.splice(0));

/** Deliveries through a client that records what it starts; `error`: what each start fails with. */
function deliveries(error?: Error): Deliveries {
  const start = (name: string, options: object) => (
    started.push([name, options]),
    error ? Promise.reject(error) : Promise.resolve()
  );
  return new Deliveries({ client: { workflow: { start } } as unknown as Client, db: undefined as unknown as Database });
}

test('a webhook is started under the name of order and move, on the queue of webhooks, and never twice', async () => {
  await deliveries().start({ order_id: 'o', n: 3 });
  expect(started).toEqual([
    [
      'webhookDelivery',
      {
        workflowId: 'webhook:o:3',
        taskQueue: 'webhooks',
        args: [{ order_id: 'o', n: 3 }],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        typedSearchAttributes: [{ key: RELATED_ORDER_ID, value: 'o' }],
        staticSummary: 'Webhook 3 of order o',
      },
    ],
  ]);
});

test('one that was started before is fine; any other failure is not', async () => {
  const before = new WorkflowExecutionAlreadyStartedError('there', 'webhook:o:1', 'webhookDelivery');
  await expect(deliveries(before).start({ order_id: 'o', n: 1 })).resolves.toBeUndefined();
  await expect(deliveries(new Error('no Temporal')).start({ order_id: 'o', n: 1 })).rejects.toThrow('no Temporal');
});
