import type { ServerResponse } from 'node:http';
import type { WebhookRecoveryAnswer } from '../../src/contract/webhook-recovery';
import { recordRows } from '../support/database';
import { webhookOf, type Merchant } from '../support/merchant';
import { runConcurrently } from '../support/merchant-payments';
import { createTestProject, type TestProject } from '../support/operator';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { idle, OwnStack, type RunningStack } from '../support/stack';
import { until } from '../support/waits';

/** Orders of the longest outage. RECOVERED=2000 for two thousand, which take four minutes. */
const ORDERS = Number(process.env['RECOVERED'] ?? 60);
jest.setTimeout(120_000 + ORDERS * 1_000);

/** A receiver that was away: its failed webhooks are sent again, on a stack whose worker is killed. */
const own = new OwnStack('webhook-recovery', () => ({ WEBHOOK_PRIVATE_ADDRESSES: 'true' }), idle('manage', 'codec'));
const receiver = setUp(startReceiver);
let stack: RunningStack;
beforeAll(async () => {
  stack = await own.start();
});
afterAll(async () => {
  await own.discard();
});

const fine = (response: ServerResponse) => void response.writeHead(200).end();
const broken = (response: ServerResponse) => void response.writeHead(500).end();

/** Cancelled orders of a new project whose webhooks have failed; their ids, oldest first. */
async function anOutage(orders: number): Promise<{ project: TestProject; ids: string[] }> {
  receiver.answer(broken);
  const project = await createTestProject({ webhook_url: receiver.url }, stack);
  const before = receiver.received.length;
  const ids = await runConcurrently(orders, 8, async () => {
    const { id } = await project.merchant.createOrder();
    await project.merchant.cancelOrder(id);
    return id;
  });
  await receiver.waitFor(before + orders);
  // As nine further attempts in 18 minutes would leave them.
  const fail = `update webhook_deliveries d set status = 'failed', next_attempt_at = null from orders o
    where o.id = d.order_id and o.project_id = :id and d.status = 'new'
      and exists (select 1 from webhook_attempts a where a.order_id = d.order_id) returning d.order_id`;
  let failed = 0;
  await until('all have failed', async () => {
    failed += (await recordRows(fail, { id: project.id }, stack)).length;
    return failed === orders;
  });
  return { project, ids };
}

const since = () => new Date(Date.now() - 3_600_000).toISOString();
const post = async (merchant: Merchant, path: string, body?: unknown) =>
  (await merchant.send<WebhookRecoveryAnswer>('POST', `/v1/webhooks/${path}`, body === undefined ? {} : { body })).body;
const find = async (merchant: Merchant, id: string) =>
  (await merchant.send<WebhookRecoveryAnswer>('GET', `/v1/webhooks/recoveries/${id}/`)).body;
const untilIs = (merchant: Merchant, id: string, status: string) =>
  until(
    `the recovery is ${status}`,
    async () => {
      const recovery = await find(merchant, id);
      return recovery.status === status && recovery;
    },
    60_000 + ORDERS * 200,
  );

test(`rules 13.16, 13.17: of ${ORDERS} orders each is told once, under the first id, although the worker is killed meanwhile`, async () => {
  const { project, ids } = await anOutage(ORDERS);
  const first = new Map(
    receiver.received.map(({ headers, body }) => [webhookOf(body).order_id, headers['webhook-id']]),
  );
  const from = receiver.received.length;
  receiver.answer(fine);
  const { id, remaining } = await post(project.merchant, 'recover/', { since: since() });
  expect(remaining).toBe(ORDERS);
  await receiver.waitFor(from + 15);
  await own.kill('worker');
  const completed = await untilIs(project.merchant, id, 'completed');
  expect(completed).toMatchObject({ remaining: 0, sent: ORDERS, delivered: ORDERS });
  const told = new Map<string, unknown[]>();
  for (const { headers, body } of receiver.received.slice(from)) {
    const { order_id } = webhookOf(body);
    told.set(order_id, [...(told.get(order_id) ?? []), headers['webhook-id']]);
  }
  // An attempt that the kill interrupted is made again.
  expect([...told.keys()].toSorted()).toEqual(ids.toSorted());
  for (const [order_id, webhook_ids] of told) expect(new Set(webhook_ids)).toEqual(new Set([first.get(order_id)]));
  const deliveries = await recordRows('select 1 from webhook_deliveries where recovery_id = :id', { id }, stack);
  expect(deliveries).toHaveLength(ORDERS);
  // Nothing is left for a second one.
  const second = await post(project.merchant, 'recover/', { since: since() });
  expect((await untilIs(project.merchant, second.id, 'completed')).sent).toBe(0);
});

test('rules 13.18: it is paused while the receiver fails, goes on when it is resumed, and can be stopped', async () => {
  const { project } = await anOutage(45);
  const { merchant } = project;
  const { id } = await post(merchant, 'recover/', { since: since() });
  const paused = await untilIs(merchant, id, 'paused');
  expect(paused.paused_by).toBe('failures');
  expect(paused.sent).toBeLessThan(30);
  expect(paused.remaining).toBe(45 - paused.sent);
  receiver.answer(fine);
  expect((await post(merchant, `recoveries/${id}/resume/`)).status).toBe('running');
  await until('it sends again', async () => (await find(merchant, id)).sent > paused.sent);
  expect((await post(merchant, `recoveries/${id}/pause/`)).paused_by).toBe('request');
  const { sent } = await until('it stands still', async () => {
    const one = await find(merchant, id);
    return one.sent === (await find(merchant, id)).sent && one;
  });
  expect((await post(merchant, `recoveries/${id}/stop/`)).status).toBe('stopped');
  expect(await find(merchant, id)).toMatchObject({ status: 'stopped', sent, remaining: 0 });
}, 180_000);
