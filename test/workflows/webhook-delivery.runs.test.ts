import { WorkflowNotFoundError } from '@temporalio/client';
import { deliveryWorkflowId, recordChanged } from '../../workflows/messages';
import { CARDS } from '../support/domain';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { createWorkflowEnvironment } from '../support/temporal';
import { until } from '../support/waits';
import { createAnOrder } from '../support/workflow-orders';

/** A delivery whose history is long, and which goes on in a new run. */
const EVENTS_MAX = 40;

const receiver = setUp(startReceiver);
const world = setUp(() => createWorkflowEnvironment({ webhook_url: receiver.url, events_max: EVENTS_MAX }));

test.each(['recordChanged', 'noSuchSignal'])(
  'rules 24.11: signals %s make no history without an end, and no attempt comes before its time',
  async (signal) => {
    receiver.answer((response) => response.writeHead(500).end());
    const { id: order_id } = await createAnOrder(world, { card_number: CARDS.approved.number });
    const attempts = async () => (await world.database.db('webhook_attempts').where({ order_id })).length;
    await until('the first attempt failed', async () => (await attempts()) === 1);
    const handle = world.env.client.workflow.getHandle(deliveryWorkflowId({ order_id, n: 1 }));
    const { runId } = await handle.describe();
    for (let n = 0; n < EVENTS_MAX; n += 1) await handle.signal(signal);
    await until('there is a new run', async () => (await handle.describe()).runId !== runId);
    expect(await attempts()).toBe(1);
    // It is the record that the new run goes on from.
    receiver.answer((response) => response.writeHead(200).end());
    await world.database
      .db('webhook_deliveries')
      .where({ order_id })
      .update({ next_attempt_at: new Date(0) });
    // A new run that begins only now reads the record, and may have ended by itself.
    await handle.signal(recordChanged).catch((error: unknown) => {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    });
    expect(await handle.result()).toBe('delivered');
  },
);
