import type { WebhookRecoveryAnswer } from '../../../src/contract/webhook-recovery';
import type { RefusalName } from '../../support/merchant';
import { createTestProject } from '../../support/operator';
import { aRecovery } from '../../support/database';
import { until } from '../../support/waits';

test('rules 13.18: a paused one runs on, whose workflow was lost; one that has ended is a Conflict', async () => {
  const { id: project_id, merchant } = await createTestProject();
  const id = await aRecovery(project_id);
  const path = `/v1/webhooks/recoveries/${id}/`;
  const { status, body } = await merchant.send<WebhookRecoveryAnswer>('POST', `${path}resume/`);
  expect([status, body.status, body.paused_by]).toEqual([200, 'running', undefined]);
  await until('it is completed', async () => {
    const { body: now } = await merchant.send<WebhookRecoveryAnswer>('GET', path);
    return now.status === 'completed';
  });
  const late = await merchant.send<{ error: RefusalName }>('POST', `${path}resume/`);
  expect([late.status, late.body.error.value]).toEqual([409, 'The recovery is completed.']);
});
