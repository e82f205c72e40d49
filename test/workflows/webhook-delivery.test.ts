import { eventNamesOf } from '../../src/bench/history';
import { historyToJson, replayHistories } from '../../src/temporal/replay';
import { createWorkflowClients } from '../../src/temporal/workflows';
import { deliveryWorkflowId } from '../../workflows/messages';
import { CARDS, MINUTE, PROJECT } from '../support/domain';
import { requestOfOperator, UNREACHABLE } from '../support/operator';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { createWorkflowEnvironment, workflowBundle } from '../support/temporal';
import { until } from '../support/waits';
import { createAnOrder } from '../support/workflow-orders';

/** The query by which the Web UI reads the current details. */
const METADATA = '__temporal_workflow_metadata';

const receiver = setUp(startReceiver);
const world = setUp(() => createWorkflowEnvironment({ webhook_url: receiver.url }));
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

const attemptsOf = async (order_id: string) =>
  (await world.database.db('webhook_attempts').where({ order_id }).orderBy('attempt')) as Attempt[];
const deliveryOf = (order_id: string) => world.env.client.workflow.getHandle(deliveryWorkflowId({ order_id, n: 1 }));

/** A paid order, whose delivery has begun or will in a moment. */
const paid = async () => (await createAnOrder(world, { card_number: CARDS.approved.number })).id;

/** A paid order whose delivery came to its end; its attempts in order. */
async function delivered(): Promise<{ order_id: string; status: unknown; attempts: Attempt[] }> {
  const order_id = await paid();
  const status: unknown = await deliveryOf(order_id).result();
  return { order_id, status, attempts: await attemptsOf(order_id) };
}

const eventsOf = (order_id: string) => eventNamesOf(world.env.client, deliveryWorkflowId({ order_id, n: 1 }));
const count = (events: string[], name: string) => events.filter((event) => event === name).length;

const gaps = (attempts: Attempt[]) =>
  attempts.slice(1).map((attempt, i) => Date.parse(attempt.started) - Date.parse(attempts[i]!.started));

test('rules 13.6: ten failed attempts, two minutes apart, then it stops: 70 events, 10 workflow tasks, no activity task', async () => {
  receiver.answer((response) => response.writeHead(500).end());
  const { order_id, status, attempts } = await delivered();
  expect(status).toBe('failed');
  expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  // Workflow time goes no faster than ours while an attempt is made, so the gaps are the timers and what a busy machine
  // adds.
  for (const gap of gaps(attempts)) expect([gap >= 120_000, gap < 150_000]).toEqual([true, true]);
  await world.env.sleep(60 * MINUTE);
  expect(receiver.received).toHaveLength(10);
  const events = await eventsOf(order_id);
  expect(events.length).toBeLessThanOrEqual(70);
  expect(count(events, 'WORKFLOW_TASK_COMPLETED')).toBe(10);
  expect(count(events, 'ACTIVITY_TASK_SCHEDULED')).toBe(0);
});

test('one whose receiver is slow: the attempts after it hold no workflow task', async () => {
  receiver.answer((response, n) => {
    if (n === 1) setTimeout(() => response.writeHead(500).end(), 1_100);
    else response.writeHead(200).end();
  });
  const { order_id, attempts } = await delivered();
  expect(attempts.map(({ status_code }) => status_code)).toEqual([500, 200]);
  expect(count(await eventsOf(order_id), 'ACTIVITY_TASK_SCHEDULED')).toBe(1);
});

describe('between two attempts', () => {
  /** A delivery whose first `failed` attempts failed, waiting for the next. */
  async function waiting(failed = 1): Promise<string> {
    receiver.answer((response, n) => response.writeHead(n <= failed ? 500 : 200).end());
    const order_id = await paid();
    await until('it waits', async () => count(await eventsOf(order_id).catch(() => []), 'TIMER_STARTED') === 1);
    return order_id;
  }
  const deliveries = () => createWorkflowClients({ client: world.env.client, db: world.database.db }).deliveries;
  const start = (order_id: string) => deliveries().start({ order_id, n: 1, project_id: PROJECT.id });
  const request = (order_id: string, operation: Parameters<typeof requestOfOperator>[2]) =>
    requestOfOperator({ db: world.database.db, deliveries: deliveries() }, { order_id, n: 1 }, operation);
  const detailsOf = async (order_id: string) =>
    (await deliveryOf(order_id).query<{ currentDetails: string }>(METADATA)).currentDetails;
  const PAUSED = '1 of 10 attempts failed (the last one: answered 500). **Webhook paused before attempt 2 of 10.**';
  const isPaused = (order_id: string) =>
    until('the workflow knows of the pause', async () => (await detailsOf(order_id)) === PAUSED);

  test('a delivery whose workflow was terminated goes on at the next attempt, when that is due', async () => {
    const order_id = await waiting(2);
    await deliveryOf(order_id).terminate();
    const [first] = await attemptsOf(order_id);
    await start(order_id);
    expect(await deliveryOf(order_id).result()).toBe('delivered');
    const attempts = await attemptsOf(order_id);
    expect(attempts.map(({ attempt, time_limit_ms, status_code }) => [attempt, time_limit_ms, status_code])).toEqual([
      [1, 4_000, 500],
      [2, 10_000, 500],
      [3, 10_000, 200],
    ]);
    expect(attempts[0]).toEqual(first);
    for (const gap of gaps(attempts)) expect(gap).toBeGreaterThanOrEqual(120_000);
  });

  test('one that is started again although it is delivered sends nothing', async () => {
    receiver.answer((response) => response.writeHead(200).end());
    const { order_id } = await delivered();
    await start(order_id);
    expect(await deliveryOf(order_id).result()).toBe('delivered');
    expect(receiver.received).toHaveLength(1);
  });

  test('rules 13.10: delivered now, paused and resumed: two minutes run from each attempt, and ten attempts are all', async () => {
    const order_id = await waiting(10);
    await request(order_id, 'deliverNow');
    await until('the second attempt failed', async () => (await attemptsOf(order_id)).length === 2);
    await request(order_id, 'pauseDelivery');
    await world.env.sleep(30 * MINUTE);
    expect(await attemptsOf(order_id)).toHaveLength(2);
    await request(order_id, 'resumeDelivery');
    expect(await deliveryOf(order_id).result()).toBe('failed');
    const attempts = await attemptsOf(order_id);
    expect(attempts).toHaveLength(10);
    const [skipped, paused, ...others] = gaps(attempts);
    expect([skipped! < 120_000, paused! >= 30 * MINUTE]).toEqual([true, true]);
    for (const gap of others) expect([gap >= 120_000, gap < 150_000]).toEqual([true, true]);
  });

  test('rules 13.10: a pause holds also when its signal was lost', async () => {
    const order_id = await waiting();
    await requestOfOperator({ db: world.database.db, deliveries: UNREACHABLE }, { order_id, n: 1 }, 'pauseDelivery');
    await world.env.sleep(10 * MINUTE);
    expect(await attemptsOf(order_id)).toHaveLength(1);
    await isPaused(order_id);
    await request(order_id, 'resumeDelivery');
    expect(await deliveryOf(order_id).result()).toBe('delivered');
  });

  test('a paused delivery whose workflow was terminated is paused when it is started again, and so it can be resumed', async () => {
    const order_id = await waiting();
    await request(order_id, 'pauseDelivery');
    await isPaused(order_id);
    await deliveryOf(order_id).terminate();
    await start(order_id);
    await isPaused(order_id);
    await world.env.sleep(10 * MINUTE);
    expect(await attemptsOf(order_id)).toHaveLength(1);
    await deliveryOf(order_id).terminate();
    await request(order_id, 'resumeDelivery');
    expect(await deliveryOf(order_id).result()).toBe('delivered');
    expect(await attemptsOf(order_id)).toHaveLength(2);
  });
});

/** The update and the order's own loop each have a local activity to run at the same moment. */
test('rules 24.11: an order that is captured while it starts its webhook again replays', async () => {
  receiver.answer((response) => response.writeHead(500).end());
  const order = await createAnOrder(world, { card_number: CARDS.approved.number, capture_mode: 'manual' });
  await order.handle.terminate('lost');
  await order.follow('capture', 300);
  const history = historyToJson(await order.handle.fetchHistory());
  expect(await replayHistories(await workflowBundle(), [{ name: order.id, history }])).toEqual({});
});
