import { v7 as uuidv7 } from 'uuid';
import { findErasure } from '../../src/db/retention/erasures';
import { createWorkflowClients } from '../../src/temporal/workflows';
import { erasureWorkflowId } from '../../workflows/messages';
import { PROJECT } from '../support/domain';
import { setUp } from '../support/set-up';
import { createWorkflowEnvironment } from '../support/temporal';

const world = setUp(() => createWorkflowEnvironment());

test('rules 29.6: an erasure whose row is missing is written again from its input, and carried out', async () => {
  const { db } = world.database;
  const erasure_id = uuidv7();
  const subject = `email_address:${'0'.repeat(64)}`;
  const { erasures } = createWorkflowClients({ client: world.env.client, db });
  await erasures.start({ erasure_id, project_id: PROJECT.id, subject });
  expect(await world.env.client.workflow.getHandle(erasureWorkflowId(erasure_id)).result()).toBe(0);
  expect(await findErasure(db, erasure_id)).toMatchObject({ subject, orders: 0, completed: expect.any(String) });
});
