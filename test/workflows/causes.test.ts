import { randomUUID } from 'node:crypto';
import { createLogger } from '../../src/log';
import { Recovery } from '../../src/recovery/recovery';
import { createWorkflowClients } from '../../src/temporal/workflows';
import { startRequestTrace } from '../../src/tracing/requests';
import { postWebhook } from '../../src/webhook/post';
import { tracedAttempts } from '../../src/webhook/trace-attempts';
import { deliveryWorkflowId, recordChanged, type CreateOrderInput } from '../../workflows/messages';
import { CARDS, MINUTE, aCharge, aRequest, anOrder } from '../support/domain';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { createWorkflowEnvironment, workerClient } from '../support/temporal';
import { collectSpans } from '../support/traces';
import { until } from '../support/waits';
import { vaultToken } from '../support/workflow-orders';

/** A workflow whose history is long goes on in a new run. */
const EVENTS_MAX = 40;

const log = createLogger({ process: 'test', level: 'silent' });
const receiver = setUp(startReceiver);
const collector = setUp(collectSpans);
const world = setUp(() =>
  createWorkflowEnvironment({
    webhook_url: receiver.url,
    events_max: EVENTS_MAX,
    services: { postWebhook: tracedAttempts(postWebhook) },
  }),
);
beforeEach(() => {
  receiver.received.splice(0);
  receiver.answer((response) => response.writeHead(500).end());
});

/** Creates an order in the trace of a request, as the API does. */
async function createInTrace(input: Partial<CreateOrderInput> = {}, is_charged = true) {
  const { db } = world.database;
  const request_id = randomUUID();
  const trace = startRequestTrace({ request_id, method: 'POST', traceparent: undefined })!;
  const order = { ...aCharge(await vaultToken(world, CARDS.approved.number)), request: aRequest({ request_id }) };
  const sent = is_charged ? order : { ...order, order: anOrder(), transaction: undefined, ...input };
  const client = workerClient(world.env);
  await new Promise((resolve, reject) =>
    trace.run(() => void createWorkflowClients({ client, db }).orders.create(sent).then(resolve, reject)),
  );
  trace.end({ fields: { operation: 'createOrder' }, status: 200, was_sent: true, route: '/v1/orders/' });
  return { request_id, order_id: sent.order.id };
}

const deliveryOf = (order_id: string) => world.database.db('webhook_deliveries').where({ order_id, n: 1 });
const attemptsOf = async (order_id: string) => (await world.database.db('webhook_attempts').where({ order_id })).length;
const traceIdOf = (request_id: string) => request_id.replaceAll('-', '');
const lastTraceId = () => String(receiver.received.at(-1)?.headers['traceparent']).split('-')[1];

test('rules 24.16: a new run of a workflow, which other signals have caused, continues its trace', async () => {
  const { request_id, order_id } = await createInTrace();
  await until('the first attempt failed', async () => (await attemptsOf(order_id)) === 1);
  const handle = world.env.client.workflow.getHandle(deliveryWorkflowId({ order_id, n: 1 }));
  const { runId } = await handle.describe();
  // Signals without a trace, as those of a process without traces.
  for (let n = 0; n < EVENTS_MAX; n += 1) await handle.signal('noSuchSignal');
  await until('there is a new run', async () => (await handle.describe()).runId !== runId);
  expect(await attemptsOf(order_id)).toBe(1);
  receiver.answer((response) => response.writeHead(200).end());
  await deliveryOf(order_id).update({ next_attempt_at: new Date(0) });
  await handle.signal(recordChanged);
  expect(await handle.result()).toBe('delivered');
  expect(lastTraceId()).toBe(traceIdOf(request_id));
});

test('rules 24.16: a workflow that recovery restarts continues the trace of the lost one', async () => {
  const { request_id, order_id } = await createInTrace();
  await until('the first attempt failed', async () => (await attemptsOf(order_id)) === 1);
  const handle = world.env.client.workflow.getHandle(deliveryWorkflowId({ order_id, n: 1 }));
  await handle.terminate('lost');
  receiver.answer((response) => response.writeHead(200).end());
  await deliveryOf(order_id).update({ next_attempt_at: new Date(Date.now() - 2 * MINUTE) });
  const { db } = world.database;
  const client = workerClient(world.env);
  const recovery = new Recovery({ db, client, workflows: createWorkflowClients({ client, db }), log });
  recovery.start();
  await until('it is delivered', async () => (await attemptsOf(order_id)) === 2);
  await recovery.stop();
  expect(lastTraceId()).toBe(traceIdOf(request_id));
  expect(await collector.treeOf(request_id, ['signal recordChanged'])).toMatch(
    /start webhookDelivery[^]*webhook attempt[^]*signal recordChanged[^]*webhook attempt/,
  );
});

test('rules 24.15: a webhook names the request that caused it; one that time has caused names none', async () => {
  const paid = await createInTrace();
  await until('it has a webhook', async () => (await deliveryOf(paid.order_id)).length === 1);
  expect(await deliveryOf(paid.order_id)).toEqual([expect.objectContaining({ request_id: paid.request_id })]);
  const expiring = await createInTrace({ period: 500 }, false);
  await until('it has expired', async () => (await deliveryOf(expiring.order_id)).length === 1);
  expect(await deliveryOf(expiring.order_id)).toEqual([expect.objectContaining({ request_id: null })]);
  expect(await collector.treeOf(expiring.request_id, ['webhook attempt'])).toContain('activity endUnpaidOrder');
});
