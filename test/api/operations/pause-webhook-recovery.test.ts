import type { WebhookRecoveryAnswer } from '../../../src/contract/webhook-recovery';
import type { RefusalName } from '../../support/merchant';
import { createTestProject } from '../../support/operator';
import { aRecovery } from '../../support/database';

test('rules 13.18: a running one is paused by request; one that is paused already is a Conflict, one of another project 401', async () => {
  const [{ id, merchant }, other] = [await createTestProject(), await createTestProject()];
  const path = `/v1/webhooks/recoveries/${await aRecovery(id, 'running')}/pause/`;
  const pause = () => merchant.send<WebhookRecoveryAnswer & { error: RefusalName }>('POST', path);
  const { status, body } = await pause();
  expect([status, body.status, body.paused_by]).toEqual([200, 'paused', 'request']);
  const again = await pause();
  expect([again.status, again.body.error.value]).toEqual([409, 'The recovery is paused already.']);
  expect((await other.merchant.send('POST', path)).status).toBe(401);
});
