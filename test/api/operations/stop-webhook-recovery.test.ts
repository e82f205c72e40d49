import type { WebhookRecoveryAnswer } from '../../../src/contract/webhook-recovery';
import { withDatabase } from '../../../src/db/connection';
import type { RefusalName } from '../../support/merchant';
import { createTestProject } from '../../support/operator';
import { aRecovery } from '../../support/database';
import { aFailedDelivery } from '../../support/rows';
import { stack } from '../../support/stack';

test('rules 13.18: a stopped one stays stopped, has nothing to send, and makes room for another', async () => {
  const { id: project_id, merchant } = await createTestProject();
  await withDatabase(stack().postgres_url, (db) => aFailedDelivery(db, undefined, { project_id, now: Date.now() }));
  const path = `/v1/webhooks/recoveries/${await aRecovery(project_id)}/`;
  const find = async () => (await merchant.send<WebhookRecoveryAnswer>('GET', path)).body;
  expect(await find()).toMatchObject({ status: 'paused', remaining: 1 });
  const stop = () => merchant.send<WebhookRecoveryAnswer & { error: RefusalName }>('POST', `${path}stop/`);
  const { status, body } = await stop();
  expect([status, body.status, body.remaining]).toEqual([200, 'stopped', 0]);
  expect(await find()).toMatchObject({ status: 'stopped', remaining: 0, sent: 0 });
  const again = await stop();
  expect([again.status, again.body.error.value]).toEqual([409, 'The recovery is stopped.']);
  const since = new Date().toISOString();
  expect((await merchant.send('POST', '/v1/webhooks/recover/', { body: { since } })).status).toBe(201);
});
