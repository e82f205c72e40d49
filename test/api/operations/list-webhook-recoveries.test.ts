import type { WebhookRecoveryAnswer } from '../../../src/contract/webhook-recovery';
import { createTestProject } from '../../support/operator';
import { aRecovery } from '../../support/database';

test('rules 13.18: the recoveries of the project, newest first, page by page', async () => {
  const [{ id, merchant }, other] = [await createTestProject(), await createTestProject()];
  await aRecovery(other.id);
  const first = await aRecovery(id);
  await merchant.send('POST', `/v1/webhooks/recoveries/${first}/stop/`);
  const second = await aRecovery(id);
  const list = async (query: string) =>
    (await merchant.send<{ items: WebhookRecoveryAnswer[]; next?: string }>('GET', `/v1/webhooks/recoveries/${query}`))
      .body;
  expect((await list('')).items.map((one) => [one.id, one.status])).toEqual([
    [second, 'paused'],
    [first, 'stopped'],
  ]);
  const { items, next } = await list('?limit=1');
  expect([items[0]!.id, (await list(`?limit=1&cursor=${next}`)).items.map((one) => one.id)]).toEqual([second, [first]]);
});
