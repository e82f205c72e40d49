import { setTimeout as sleep } from 'node:timers/promises';
import { v7 as uuidv7 } from 'uuid';
import { beginReceiverCheck, findReceiverCheck } from '../../src/db/webhooks/receiver-checks';
import { createWorkflowClients } from '../../src/temporal/workflows';
import type { WebhookAnswer } from '../../src/webhook/post';
import { WEBHOOK_TASK_QUEUE, receiverCheckWorkflowId } from '../../workflows/messages';
import { PROJECT } from '../support/domain';
import { setUp } from '../support/set-up';
import { createWorkflowEnvironment } from '../support/temporal';

let answering: () => Promise<WebhookAnswer>;
const world = setUp(() =>
  createWorkflowEnvironment({ queues: [WEBHOOK_TASK_QUEUE], services: { postWebhook: () => answering() } }),
);

async function check(): Promise<{ result: unknown; stored: Awaited<ReturnType<typeof findReceiverCheck>> }> {
  const { db } = world.database;
  const id = uuidv7();
  const of = { id, project_id: PROJECT.id, webhook_url: 'http://127.0.0.1:1/' };
  await db.transaction((trx) => beginReceiverCheck(trx, of, Date.now()));
  const { receiver_checks } = createWorkflowClients({ client: world.env.client, db });
  await receiver_checks.start({ check_id: id, project_id: PROJECT.id });
  const result: unknown = await world.env.client.workflow.getHandle(receiverCheckWorkflowId(id)).result();
  return { result, stored: await findReceiverCheck(db, id) };
}

test('rules 27.4: no round begins when eight seconds have passed, and its cases are not played', async () => {
  answering = async () => {
    await sleep(8_500);
    return { status_code: 500, failure: 'answered 500', duration_ms: 8_500 };
  };
  const { result, stored } = await check();
  expect(result).toBe('failed');
  const results = stored!.cases!.map(({ case: name, result: of_case }) => `${name} ${of_case}`);
  expect(results[0]).toBe('once failed');
  expect(new Set(stored!.cases!.slice(1).map((one) => one.result))).toEqual(new Set(['not_played']));
});

test('rules 27.8: a check that cannot be played is stopped', async () => {
  answering = () => Promise.reject(new Error('the sender fails'));
  const { result, stored } = await check();
  expect([result, stored]).toMatchObject([
    'stopped',
    { cases: null, reason: 'The service could not play it; try again later.' },
  ]);
});
