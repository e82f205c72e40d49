import type { WebhookRecoveryAnswer } from '../../../src/contract/webhook-recovery';
import type { RefusalName } from '../../support/merchant';
import { createTestProject } from '../../support/operator';
import { aRecovery } from '../../support/database';

test('rules 13.18: a stopped one stays stopped, and makes room for another', async () => {
  const { id: project_id, merchant } = await createTestProject();
  const id = await aRecovery(project_id);
  const stop = () =>
    merchant.send<WebhookRecoveryAnswer & { error: RefusalName }>('POST', `/v1/webhooks/recoveries/${id}/stop/`);
  const { status, body } = await stop();
  expect([status, body.status]).toEqual([200, 'stopped']);
  const again = await stop();
  expect([again.status, again.body.error.value]).toEqual([409, 'The recovery is stopped.']);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  expect((await merchant.send('POST', '/v1/webhooks/recover/', { body: { since } })).status).toBe(201);
});
