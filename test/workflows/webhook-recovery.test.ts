import { findWebhookRecovery, moveWebhookRecovery } from '../../src/db/webhooks/recoveries';
import { createWorkflowClients } from '../../src/temporal/workflows';
import { describeRecovery } from '../../workflows/webhook-recovery';
import { recordChanged, webhookRecoveryWorkflowId } from '../../workflows/messages';
import { PROJECT } from '../support/domain';
import { aFailedDelivery, aWebhookRecovery } from '../support/rows';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { createWorkflowEnvironment } from '../support/temporal';
import { until } from '../support/waits';

const EVENTS_MAX = 40;

const receiver = setUp(startReceiver);
const world = setUp(() => createWorkflowEnvironment({ webhook_url: receiver.url, events_max: EVENTS_MAX }));

test('rules 13.17, 13.18: paused by failures it waits, in new runs too; resumed it ends once all are sent', async () => {
  const { db } = world.database;
  for (let n = 0; n < 25; n += 1) await aFailedDelivery(db, receiver.url);
  receiver.answer((response) => response.writeHead(500).end());
  const recovery_id = await aWebhookRecovery(db);
  const { webhook_recoveries } = createWorkflowClients({ client: world.env.client, db });
  await webhook_recoveries.start({ recovery_id, project_id: PROJECT.id });
  const find = async () => (await findWebhookRecovery(db, recovery_id))!;
  await until('it is paused', async () => (await find()).status === 'paused');
  const { sent } = await find();
  expect(sent).toBeLessThanOrEqual(20);

  const handle = world.env.client.workflow.getHandle(webhookRecoveryWorkflowId(recovery_id));
  const { runId } = await handle.describe();
  for (let n = 0; n < EVENTS_MAX; n += 1) await handle.signal(recordChanged);
  await until('there is a new run', async () => (await handle.describe()).runId !== runId);
  expect((await find()).sent).toBe(sent);

  receiver.answer((response) => response.writeHead(200).end());
  await moveWebhookRecovery(db, recovery_id, { to: 'running', now: new Date() });
  await webhook_recoveries.resume({ recovery_id, project_id: PROJECT.id });
  expect(await handle.result()).toBe('completed');
  expect(await find()).toMatchObject({ status: 'completed', sent: 25 });
});

test.each([
  [{ status: 'running' }, '**Running.** 130 webhooks sent, 121 of them delivered; 1870 to send.'],
  [{ status: 'paused', paused_by: 'request' }, '**Paused.** 130 webhooks sent, 121 of them delivered; 1870 to send.'],
  [
    { status: 'paused', paused_by: 'failures' },
    '**Paused: 5 in a row failed.** 130 webhooks sent, 121 of them delivered; 1870 to send.',
  ],
] as const)('the details in the Web UI: %j', (over, text) => {
  const progress = { remaining: 1_870, sent: 130, delivered: 121, clock_offset_ms: 0 } as const;
  expect(describeRecovery({ ...progress, ...over })).toBe(text);
});
