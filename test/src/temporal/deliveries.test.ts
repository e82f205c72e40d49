import { Connection, type Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import type { Database } from '../../../src/db/query';
import { moveOrder } from '../../../src/db/orders/move-order';
import type { TemporalAccess } from '../../../src/temporal/call';
import { clientOf } from '../../../src/temporal/connect';
import { createWorkflowClients } from '../../../src/temporal/workflows';
import { PROJECT_ID, RELATED_ORDER_ID, deliveryWorkflowId } from '../../../workflows/messages';
import { PROJECT } from '../../support/domain';
import { aStoredOrder } from '../../support/rows';
import { startReceiver } from '../../support/servers';
import { setUp } from '../../support/set-up';
import { createWorkflowEnvironment } from '../../support/temporal';

/** A client that only notes what is started. */
function notes() {
  const started: unknown[] = [];
  const start = (...workflow: unknown[]) => (started.push(workflow), Promise.resolve());
  const withDeadline = async (_at: number, call: () => Promise<void>) => await call();
  return { started, client: { workflow: { start }, withDeadline } as unknown as Client };
}
const db = undefined as unknown as Database;
const DELIVERY = { order_id: 'o', n: 3, project_id: 'p' };

test('a webhook is started under the name of order and move, on the queue of webhooks, fairly among projects', async () => {
  const { started, client } = notes();
  await createWorkflowClients({ client, db }).deliveries.start(DELIVERY);
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

test('a process with workers starts it through their connection and asks for its first task', async () => {
  const [others, workers] = [notes(), notes()];
  const { deliveries } = createWorkflowClients({ client: others.client, worker_client: workers.client, db });
  await deliveries.start(DELIVERY);
  expect([others.started, workers.started]).toEqual([
    [],
    [['webhookDelivery', expect.objectContaining({ workflowId: 'webhook:o:3', requestEagerStart: true })]],
  ]);
});

describe('on a server that gives the first task to who starts the workflow', () => {
  const namespace = 'deliveries';
  const receiver = setUp(startReceiver);
  const world = setUp(() => createWorkflowEnvironment({ webhook_url: receiver.url, namespace }));
  beforeEach(() => {
    receiver.received.splice(0);
    receiver.answer((response) => response.writeHead(200).end());
  });

  /** Starts a delivery twice, waits for its end, and returns how many workflow tasks timed out. */
  async function delivered(clients: Pick<TemporalAccess, 'client' | 'worker_client'>): Promise<number> {
    const { db } = world.database;
    const order = await aStoredOrder(db);
    await moveOrder(db, order, { ended: 'cancelled' }, { source: 'merchant', now: Date.now() });
    const id = { order_id: order.id, n: 1 };
    const { deliveries } = createWorkflowClients({ ...clients, db });
    const started = { ...id, project_id: PROJECT.id };
    await Promise.all([deliveries.start(started), deliveries.start(started)]);
    const workflow = world.env.client.workflow.getHandle(deliveryWorkflowId(id));
    expect(await workflow.result()).toBe('delivered');
    expect(receiver.received).toHaveLength(1);
    const { events } = await workflow.fetchHistory();
    expect(events?.[0]?.workflowExecutionStartedEventAttributes?.eagerExecutionAccepted).toBe(true);
    return events!.filter(({ workflowTaskTimedOutEventAttributes: timed_out }) => timed_out != null).length;
  }

  test('the worker gets it with the answer, and sends the webhook once', async () => {
    const { client, nativeConnection: connection } = world.env;
    expect(await delivered({ client, worker_client: clientOf({ connection, namespace }) })).toBe(0);
  });

  test('a task that is lost with the worker that asked goes to another after its time-out, which sends it once', async () => {
    // A connection without workers, which nevertheless asks for the task: it is never done there. Its time-out is ten
    // seconds otherwise.
    const connection = await Connection.connect({ address: world.env.address });
    const { workflowService } = connection;
    const start = workflowService.startWorkflowExecution.bind(workflowService);
    Object.assign(workflowService, {
      startWorkflowExecution: (request: object) =>
        start({ ...request, requestEagerExecution: true, workflowTaskTimeout: msToTs('2s') }),
    });
    try {
      expect(await delivered({ client: clientOf({ connection, namespace }) })).toBeGreaterThan(0);
    } finally {
      await connection.close();
    }
  });
});
