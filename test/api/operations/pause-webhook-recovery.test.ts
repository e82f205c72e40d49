import type { RefusalName } from '../../support/merchant';
import { createTestProject } from '../../support/operator';
import { aRecovery } from '../../support/database';

test('rules 13.18: one that is paused already is a Conflict, one of another project 401', async () => {
  const [{ id, merchant }, other] = [await createTestProject(), await createTestProject()];
  const path = `/v1/webhooks/recoveries/${await aRecovery(id)}/pause/`;
  const again = await merchant.send<{ error: RefusalName }>('POST', path);
  expect([again.status, again.body.error.value]).toEqual([409, 'The recovery is paused already.']);
  expect((await other.merchant.send('POST', path)).status).toBe(401);
});
