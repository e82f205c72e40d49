import { CARDS } from '../support/cards';
import { MINUTE, createAnOrder } from '../support/orders';
import { aReceiver, type Receiver } from '../support/receiver';
import { aWorld, type World } from '../support/temporal';
import { deliveryWorkflowId } from '../../workflows/messages';
import { PROJECT } from '../support/database';

let world: World;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await aReceiver();
  world = await aWorld({ webhook_url: receiver.url });
});
afterAll(async () => {
  await world?.close();
  await receiver?.close();
});
beforeEach(() => {
  receiver.received.splice(0);
  receiver.answer((response) => response.writeHead(200).end());
});

interface Attempt {
  attempt: number;
  time_limit_ms: number;
  started: string;
  status_code: number | null;
  failure: string | null;
}

/** A paid order whose delivery came to its end; its attempts in order. */
async function delivered(): Promise<{ order_id: string; status: unknown; attempts: Attempt[] }> {
  const { id } = await createAnOrder(world, { card_number: CARDS.approved.number });
  const status: unknown = await world.env.client.workflow
    .getHandle(deliveryWorkflowId({ order_id: id, n: 1 }))
    .result();
  const attempts = (await world.database
    .db('webhook_attempts')
    .where({ order_id: id })
    .orderBy('attempt')) as Attempt[];
  return { order_id: id, status, attempts };
}

const gaps = (attempts: Attempt[]) =>
  attempts.slice(1).map((attempt, i) => Date.parse(attempt.started) - Date.parse(attempts[i]!.started));

test('rules 13.1: the body is event, order_id and project_id, and nothing else', async () => {
  const { order_id, status, attempts } = await delivered();
  expect(status).toBe('delivered');
  expect(JSON.parse(receiver.received[0]!.body)).toEqual({ event: 'status_changed', order_id, project_id: PROJECT.id });
  expect(attempts).toEqual([
    expect.objectContaining({ attempt: 1, status_code: 200, failure: null, time_limit_ms: 4_000 }),
  ]);
  expect(receiver.received).toHaveLength(1);
});

test('rules 13.6: ten failed attempts, two minutes apart, then it stops', async () => {
  receiver.answer((response) => response.writeHead(500).end());
  const { status, attempts } = await delivered();
  expect(status).toBe('failed');
  expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  // Workflow time goes no faster than ours while an attempt is made, so the gaps are the timers and what a busy machine adds.
  for (const gap of gaps(attempts)) expect([gap >= 120_000, gap < 125_000]).toEqual([true, true]);
  await world.env.sleep(60 * MINUTE);
  expect(receiver.received).toHaveLength(10);
});

test('rules 13.5: 4 seconds for the first attempt, 10 for every retry', async () => {
  receiver.answer((response) => response.writeHead(404).end());
  const { attempts } = await delivered();
  expect(attempts.map(({ time_limit_ms }) => time_limit_ms)).toEqual([4_000, ...Array<number>(9).fill(10_000)]);
});

test('success on the third attempt ends it', async () => {
  receiver.answer((response, n) => response.writeHead(n < 3 ? 503 : 204).end());
  const { status, attempts } = await delivered();
  expect(status).toBe('delivered');
  expect(attempts.map(({ status_code }) => status_code)).toEqual([503, 503, 204]);
});

test('a redirect is a failure and is not followed', async () => {
  receiver.answer((response, n) =>
    n === 1 ? response.writeHead(302, { location: receiver.url }).end() : response.writeHead(200).end(),
  );
  const { attempts } = await delivered();
  expect(attempts.map(({ status_code, failure }) => [status_code, failure])).toEqual([
    [302, 'answered 302'],
    [200, null],
  ]);
});

test('every attempt of one notification carries the same webhook-id', async () => {
  receiver.answer((response, n) => response.writeHead(n < 3 ? 500 : 200).end());
  const { order_id } = await delivered();
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(
    new Set([`webhook:${order_id}:1`]),
  );
});

test('creating an order is no change and sends nothing', async () => {
  const order = await createAnOrder(world);
  await world.env.sleep(MINUTE);
  expect(receiver.received).toHaveLength(0);
  await order.cancel();
  await receiver.waitFor(1);
});
