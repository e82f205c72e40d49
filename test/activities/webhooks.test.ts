import type { Services } from '../../activities/services';
import { webhookActivities } from '../../activities/webhooks';
import { moveOrder } from '../../src/db/move-order';
import type { DeliveryId } from '../../src/domain/delivery';
import { postWebhook, type WebhookRequest } from '../../src/webhook/post';
import { NOW, aStoredOrder } from '../support/builders';
import { aDatabase, type TestDatabase } from '../support/database';
import { aReceiver, type Receiver } from '../support/receiver';

let database: TestDatabase;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await aReceiver();
  database = await aDatabase({ webhook_url: receiver.url });
});
afterAll(async () => {
  await database.close();
  await receiver.close();
});
beforeEach(() => {
  receiver.received.splice(0);
  receiver.answer((response) => response.writeHead(200).end());
});

const activities = (over: Partial<Parameters<typeof webhookActivities>[0]> = {}) =>
  webhookActivities({
    db: database.db,
    workflows: {
      deliveries: { start: async (id: DeliveryId) => void started.push(id) },
    } as unknown as Services['workflows'],
    postWebhook,
    webhook_private_addresses: true,
    ...over,
  });

const started: DeliveryId[] = [];

async function aDelivery(): Promise<{ order_id: string; n: number }> {
  const order = await aStoredOrder(database.db);
  const { deliveries } = await moveOrder(database.db, order, { ended: 'cancelled' }, { source: 'merchant', now: NOW });
  expect(deliveries).toEqual([1]);
  return { order_id: order.id, n: 1 };
}
const attempts = (order_id: string) =>
  database
    .db('webhook_attempts')
    .where({ order_id })
    .orderBy('attempt')
    .select('attempt', 'status_code', 'failure', 'started');

describe('attemptDelivery', () => {
  test('is recorded with the instant of the workflow; delivered, it is not sent again', async () => {
    const id = await aDelivery();
    expect(await activities().attemptDelivery({ ...id, attempt: 1, now: NOW })).toBe('delivered');
    expect(await activities().attemptDelivery({ ...id, attempt: 1, now: NOW })).toBe('delivered');
    expect(receiver.received).toHaveLength(1);
    const rows = (await attempts(id.order_id)) as { started: string }[];
    expect(rows).toEqual([expect.objectContaining({ attempt: 1, status_code: 200, failure: null })]);
    expect(Date.parse(rows[0]!.started)).toBe(NOW);
  });

  test('killed before its record it is sent again under the same id: the receiver is told it may come twice', async () => {
    const id = await aDelivery();
    const killed = activities({
      postWebhook: async (webhook) => (await postWebhook(webhook), Promise.reject(new Error('killed'))),
    });
    await expect(killed.attemptDelivery({ ...id, attempt: 1, now: NOW })).rejects.toThrow('killed');
    await activities().attemptDelivery({ ...id, attempt: 1, now: NOW });
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([
      `webhook:${id.order_id}:1`,
      `webhook:${id.order_id}:1`,
    ]);
    expect(await attempts(id.order_id)).toHaveLength(1);
  });

  test.each([
    [1, 4_000, 'new'],
    [2, 10_000, 'new'],
    [9, 10_000, 'new'],
    [10, 10_000, 'failed'],
  ])(
    'rules 13.5 and 13.6: attempt %i may take %i ms, and when it fails the delivery is %s',
    async (attempt, time_limit_ms, status) => {
      const id = await aDelivery();
      const asked: WebhookRequest[] = [];
      const refusing = activities({
        postWebhook: (webhook) => {
          asked.push(webhook);
          return Promise.resolve({ status_code: 500, failure: 'answered 500', duration_ms: 3 });
        },
      });
      expect(await refusing.attemptDelivery({ ...id, attempt, now: NOW })).toBe(status);
      expect(asked.map((webhook) => webhook.time_limit_ms)).toEqual([time_limit_ms]);
    },
  );

  test.each([
    [true, true, true],
    [true, false, false],
    [false, true, false],
  ])(
    'a project that is test: %s, private addresses configured: %s → they are allowed: %s',
    async (is_test, configured, allowed) => {
      const id = await aDelivery();
      const seen: boolean[] = [];
      await database.db('projects').update({ is_test });
      const one = activities({
        webhook_private_addresses: configured,
        postWebhook: ({ private_addresses }) => (
          seen.push(private_addresses),
          Promise.resolve({ status_code: 200, duration_ms: 1 })
        ),
      });
      await one.attemptDelivery({ ...id, attempt: 1, now: NOW });
      await database.db('projects').update({ is_test: true });
      expect(seen).toEqual([allowed]);
    },
  );
});

test('startDeliveries: one workflow for each webhook', async () => {
  await activities().startDeliveries({ order_id: 'o', deliveries: [1, 3] });
  expect(started).toEqual([
    { order_id: 'o', n: 1 },
    { order_id: 'o', n: 3 },
  ]);
});
