import { createWorkflowClients } from '../../src/temporal/workflows';
import { sandboxClockWorkflowId } from '../../workflows/messages';
import { MINUTE, PROJECT } from '../support/domain';
import { setUp } from '../support/set-up';
import { createWorkflowEnvironment } from '../support/temporal';
import { createAnOrder, statusesOfOrder } from '../support/workflow-orders';

const world = setUp(() => createWorkflowEnvironment());
jest.setTimeout(120_000);

const DAY = 24 * 60 * MINUTE;

test('an advance that was lost is carried on from the record', async () => {
  const order = await createAnOrder(world);
  const { database } = world;
  const now = new Date(await world.now());
  await database.db('sandbox_clocks').insert({ id: order.id, project_id: PROJECT.id, modified: now });
  await database.db('sandbox_clock_advances').insert({
    clock_id: order.id,
    n: 1,
    request_id: 'lost',
    from_offset_ms: 0,
    to_offset_ms: DAY,
    started: now,
  });
  await order.handle.terminate('lost');
  const { sandbox_clocks } = createWorkflowClients({ client: world.env.client, db: database.db });
  await sandbox_clocks.start({ clock_id: order.id, project_id: PROJECT.id });
  await world.env.client.workflow.getHandle(sandboxClockWorkflowId(order.id)).result();
  expect([await statusesOfOrder(order), (await order.view()).clock_offset_ms]).toEqual(['expired:', DAY]);
});
