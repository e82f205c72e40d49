import { v7 as uuidv7 } from 'uuid';
import { withDatabase } from '../../src/db/connection';
import { findErasure } from '../../src/db/retention/erasures';
import { createWorkflowClients } from '../../src/temporal/workflows';
import { erasureWorkflowId } from '../../workflows/messages';
import { createTestProject } from '../support/operator';
import { stack } from '../support/stack';
import { withTemporal } from '../support/temporal-client';

test('rules 29.6: an erasure whose row is missing is written again from its input, and carried out', async () => {
  const { id: project_id } = await createTestProject();
  const [erasure_id, subject] = [uuidv7(), `email_address:${'0'.repeat(64)}`];
  await withTemporal(stack(), async (client) => {
    await withDatabase(stack().postgres_url, async (db) => {
      await createWorkflowClients({ client, db }).erasures.start({ erasure_id, project_id, subject });
      expect(await client.workflow.getHandle(erasureWorkflowId(erasure_id)).result()).toBe(0);
      expect(await findErasure(db, erasure_id)).toMatchObject({ subject, orders: 0, completed: expect.any(String) });
    });
  });
});
