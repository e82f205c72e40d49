import {
  WithStartWorkflowOperation,
  WorkflowFailedError,
  WorkflowUpdateFailedError,
  type Client as Temporal,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { v7 as uuidv7 } from 'uuid';
import { eventNamesOf } from '../../src/bench/history';
import { severalAtOnce } from '../../src/domain/several-at-once';
import { EVENTS_SUGGESTED_MAX } from '../../src/stack/servers/temporal';
import {
  SETTLEMENTS_WORKFLOW,
  TASK_QUEUE,
  deliveryWorkflowId,
  orderWorkflowId,
  paymentLinkWorkflowId,
  sandboxClockWorkflowId,
} from '../../workflows/messages';
import { UPDATES } from '../../workflows/inputs';
import { CARD, Client } from '../support/customer';
import { CARDS } from '../support/domain';
import { Merchant, statusesOf } from '../support/merchant';
import { capturePart, createAuthorization, part } from '../support/merchant-payments';
import { createTestProject } from '../support/operator';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { stack } from '../support/stack';
import { temporalOf } from '../support/temporal-client';
import { until } from '../support/waits';

/**
 * Whatever comes in through Temporal, from a client that has the keys of the payloads: no input ends a worker, disturbs
 * another order, or keeps the order that it reached from being paid (rules 24.10, 24.11). `npm run journeys:killing` leaves
 * it out: the worker must be the same throughout.
 */
const receiver = setUp(startReceiver);
let merchant: Merchant;
let temporal: Temporal;
let worker_pid: number;

beforeAll(async () => {
  receiver.answer((response) => response.writeHead(500).end());
  ({ merchant } = await createTestProject({ webhook_url: receiver.url }));
  temporal = temporalOf(stack());
  worker_pid = stack().pids['worker']!;
});
afterAll(async () => {
  await temporal?.connection.close();
});
/** Whether another order is paid at once, and by the worker that was there before. */
afterEach(async () => {
  const paid = statusesOf(await merchant.paidOrder('approved'));
  if (paid !== 'completed: accepted') throw new Error(`another order is ${paid}`);
  if (stack().pids['worker'] !== worker_pid) throw new Error('the worker was ended');
});

const DAY_MS = 24 * 3_600_000;
const WRONG: unknown[] = [
  undefined,
  null,
  'x',
  '',
  -1,
  1.5,
  1e308,
  Number.NaN,
  true,
  {},
  [],
  { versions: 'x', order_id: 'x', id: -1, clock_id: {}, payment_link_id: [], n: Number.NaN, period: 'x' },
  'long '.repeat(10_000),
];
/** Of one workflow: fewer than the updates that Temporal lets one have at once. */
const AT_ONCE = 8;
const SIGNALS = ['clockAdvanced', 'recordChanged', 'processorAnswered', 'noSuchSignal'];

/** An unpaid order, a held authorization, a payment link and a webhook that waits for its next attempt. */
async function aTarget() {
  const [order, authorization, link, paid] = await Promise.all([
    merchant.createOrder(),
    createAuthorization(merchant),
    merchant.createPaymentLink(),
    merchant.paidOrder('approved'),
  ]);
  const ids = [
    orderWorkflowId(order.id),
    orderWorkflowId(authorization.id),
    paymentLinkWorkflowId(link.id),
    deliveryWorkflowId({ order_id: paid.id, n: 1 }),
  ];
  await until('the first attempt of the webhook', () => receiver.received.some(({ body }) => body.includes(paid.id)));
  return { order, authorization, link, ids };
}

async function pay(order: Parameters<Client['openPage']>[0]): Promise<string> {
  const customer = new Client(stack().api_url);
  const form = { ...CARD, number: CARDS.approved.number, ...(await customer.openPage(order)) };
  await customer.postForm(`/pay/${order.id}/`, form);
  return statusesOf(await merchant.getOrder(order.id));
}

test('rules 24.10: signals with any input: the order is paid, the authorization captured, link and webhook go on', async () => {
  const { order, authorization, link, ids } = await aTarget();
  const signalAll = async (id: string) => {
    const handle = temporal.workflow.getHandle(id);
    const sent = SIGNALS.flatMap((signal) => [[], ...WRONG.map((input) => [input])].map((args) => ({ signal, args })));
    await severalAtOnce(AT_ONCE, sent, ({ signal, args }) => handle.signal(signal, ...args));
  };
  await Promise.all(ids.map(signalAll));
  for (const id of ids) {
    await until(`${id} has handled them`, async () => {
      const { raw } = await temporal.workflow.getHandle(id).describe();
      return (raw.pendingWorkflowTask ?? undefined) === undefined;
    });
  }
  expect(await pay(order)).toBe('completed: accepted');
  expect((await capturePart(merchant, authorization, part(300))).body.status).toBe('completed');
  expect((await merchant.getPaymentLink(link.id)).status).toBe('new');
  const statuses = await Promise.all(
    ids.slice(2).map(async (id) => (await temporal.workflow.getHandle(id).describe()).status.name),
  );
  expect(statuses).toEqual(['RUNNING', 'RUNNING']);
});

/** Several new runs of the order, which come after EVENTS_SUGGESTED_MAX events each. */
const FLOOD = 2 * EVENTS_SUGGESTED_MAX;

test(`rules 24.11: ${FLOOD} signals to one order: it is paid all the same`, async () => {
  const order = await merchant.createOrder();
  const handle = temporal.workflow.getHandle(orderWorkflowId(order.id));
  for (let sent = 0; sent < FLOOD; sent += 64) {
    await Promise.all(Array.from({ length: 64 }, (_, n) => handle.signal(SIGNALS[n % SIGNALS.length]!, 'junk')));
  }
  expect(await pay(order)).toBe('completed: accepted');
});

const STARTS: Record<string, (id: string) => string> = {
  order: orderWorkflowId,
  followUp: orderWorkflowId,
  paymentLink: paymentLinkWorkflowId,
  webhookDelivery: (order_id) => deliveryWorkflowId({ order_id, n: 1 }),
  sandboxClock: sandboxClockWorkflowId,
};

test.each(Object.entries(STARTS))(
  'rules 24.10: a start of %s with any input fails at once',
  async (type, workflowId) => {
    // Of another order.
    const other = { order_id: uuidv7(), payment_link_id: uuidv7(), n: 1, clock_id: uuidv7(), project_id: uuidv7() };
    const startWith = async (input: unknown) => {
      const args = input === undefined ? [] : [input];
      const handle = await temporal.workflow.start(type, {
        taskQueue: TASK_QUEUE,
        workflowId: workflowId(uuidv7()),
        args: args as [],
      });
      const failure: unknown = await handle.result().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(WorkflowFailedError);
      const { cause } = failure as WorkflowFailedError;
      expect(cause).toMatchObject({ type: 'ValidationError', nonRetryable: true });
      expect(cause!.message.length).toBeLessThan(200);
      expect(await eventNamesOf(temporal, handle.workflowId)).toEqual([
        'WORKFLOW_EXECUTION_STARTED',
        'WORKFLOW_TASK_SCHEDULED',
        'WORKFLOW_TASK_STARTED',
        'WORKFLOW_TASK_COMPLETED',
        'WORKFLOW_EXECUTION_FAILED',
      ]);
    };
    await Promise.all([...WRONG, other].map(startWith));
  },
);

/** Without fields a link is ended at any version. */
const wrongInputsOf = (update: string) =>
  WRONG.filter((input) => update !== 'endPaymentLink' || JSON.stringify(input) !== '{}');

test('rules 24.10: updates with any input are refused, and leave no event', async () => {
  const { order, link, ids } = await aTarget();
  const before = await eventNamesOf(temporal, orderWorkflowId(order.id));
  let refused = 0;
  const sendAll = async (id: string) => {
    const sent = Object.keys(UPDATES).flatMap((update) => wrongInputsOf(update).map((input) => ({ update, input })));
    await severalAtOnce(AT_ONCE, sent, async ({ update, input }) => {
      const args = input === undefined ? [] : [input];
      const error: unknown = await temporal.workflow
        .getHandle(id)
        .executeUpdate(update, { args: args as [] })
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(WorkflowUpdateFailedError);
      const { cause } = error as WorkflowUpdateFailedError;
      if (cause instanceof ApplicationFailure && cause.type === 'ValidationError') refused += 1;
      // The others are not updates of this workflow.
      else expect(cause!.message).toContain(update);
    });
  };
  await Promise.all(ids.slice(0, 3).map(sendAll));
  // Of an order five, of a link two.
  expect(refused).toBe((2 * 5 + 2) * WRONG.length - 1);
  expect(await eventNamesOf(temporal, orderWorkflowId(order.id))).toEqual(before);
  expect((await merchant.getPaymentLink(link.id)).status).toBe('new');
  expect(await pay(order)).toBe('completed: accepted');
});

test('rules 24.10: an update of another order is refused', async () => {
  const [order, other] = [await merchant.createOrder(), await createAuthorization(merchant)];
  const { id: project_id } = await merchant.getProject();
  const capture = {
    id: uuidv7(),
    project_id,
    kind: 'capture',
    requested_by: 'merchant',
    original_order_id: other.id,
    original_transaction_id: other.transactions![0]!.id,
  };
  const handle = temporal.workflow.getHandle(orderWorkflowId(order.id));
  await expect(handle.executeUpdate('captureOrVoid', { args: [capture] })).rejects.toMatchObject({
    cause: { type: 'ValidationError' },
  });
});

test('rules 23.11: no message advances the clock of a live order, or starts what comes from it in another time', async () => {
  const live = new Merchant(stack(), stack().live_api_key);
  const order = await live.createOrder();
  const { id: live_project_id } = await live.getProject();
  const { id: test_project_id } = await merchant.getProject();
  await temporal.workflow.getHandle(orderWorkflowId(order.id)).signal('clockAdvanced', 31 * DAY_MS);
  for (const project_id of [test_project_id, live_project_id]) {
    const startWorkflowOperation = new WithStartWorkflowOperation('sandboxClock', {
      taskQueue: TASK_QUEUE,
      workflowId: sandboxClockWorkflowId(order.id),
      args: [{ clock_id: order.id, project_id }],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
    const input = { request_id: uuidv7(), advance: { advance_ms: 31 * DAY_MS } };
    // Together: a clock that is started without an advance ends at once.
    await expect(
      temporal.workflow.executeUpdateWithStart('advanceClock', { startWorkflowOperation, args: [input] }),
    ).rejects.toMatchObject({ cause: { type: 'Forbidden' } });
    await (await startWorkflowOperation.workflowHandle()).result();
  }
  await temporal.workflow.start(SETTLEMENTS_WORKFLOW, {
    taskQueue: TASK_QUEUE,
    workflowId: 'settlements-now',
    args: ['x'],
  });
  const { status, test_clock } = await live.getOrder(order.id);
  expect([status, test_clock]).toEqual(['new', undefined]);
});
