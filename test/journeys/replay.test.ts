import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { closeIncident, findIncident, recordDifferences } from '../../src/db/audit/incidents';
import { insertOrder } from '../../src/db/orders/insert-order';
import { findStoredOrder } from '../../src/db/orders/stored-order';
import { findWebhookRecovery, moveWebhookRecovery } from '../../src/db/webhooks/recoveries';
import { beginReceiverCheck } from '../../src/db/webhooks/receiver-checks';
import { processorOrderId, reversalOrderId } from '../../src/ids';
import { KINDS } from '../../src/temporal/kinds';
import { historyToJson, replayHistories, type RecordedHistory } from '../../src/temporal/replay';
import { createWorkflowClients } from '../../src/temporal/workflows';
import {
  AUDIT_WORKFLOW,
  ORDER_WORKFLOW,
  PAYMENT_LINK_WORKFLOW,
  SANDBOX_CLOCK_TASK_QUEUE,
  SEARCH_INDEX_CHECK_WORKFLOW,
  SETTLEMENTS_WORKFLOW,
  TASK_QUEUE,
  deliveryWorkflowId,
  endPaymentLinkUpdate,
  erasureWorkflowId,
  incidentWorkflowId,
  orderWorkflowId,
  paymentLinkWorkflowId,
  pollNowUpdate,
  processorAnswered,
  receiverCheckWorkflowId,
  sandboxClockWorkflowId,
  setOutcomeUpdate,
  webhookRecoveryWorkflowId,
  type FollowUpInput,
} from '../../workflows/messages';
import {
  CARDS,
  MINUTE,
  PROJECT,
  aCharge,
  aLateRequest,
  aRequest,
  transactionIdOf,
  type CardName,
} from '../support/domain';
import { Merchant } from '../support/merchant';
import { requestOfOperator } from '../support/operator';
import { aFailedDelivery, aWebhookRecovery } from '../support/rows';
import { startReceiver, type Receiver } from '../support/servers';
import { postControl, stack } from '../support/stack';
import {
  createWorkflowEnvironment,
  quietTestRuntime,
  workflowBundle,
  type WorkflowEnvironment,
} from '../support/temporal';
import { until } from '../support/waits';
import {
  answerAtIssuer,
  becomesDue,
  createALink,
  createAnOrder,
  startFollowUp,
  followUpOf,
  notifyFollowUp,
  vaultToken,
  type TestLink,
  type TestOrder,
} from '../support/workflow-orders';

/**
 * Workflows that are on their way must go on with the code of today: a change that breaks a history is made with
 * `patched()`. `RECORD_HISTORIES=1 npx jest test/journeys/replay` records the flows that have none yet, and no other;
 * to record one anew, which is right only while no workflow of the older code runs anywhere, delete its file first.
 */
const folder = path.join(__dirname, '../histories');

/** Histories that proof faults found and no flow makes at will. */
const FOUND = [
  // Temporal loses a task while the capture is executed, and a notification comes: the next worker gets it together with
  // the start, a replay after it.
  'capture-notified-beside-a-lost-task',
];

let code: string;
beforeAll(async () => {
  quietTestRuntime();
  code = readFileSync((await workflowBundle()).codePath, 'utf8');
  if (process.env['RECORD_HISTORIES'] === '1') await record();
}, 300_000);

async function record(): Promise<void> {
  const receiver = await startReceiver();
  const world = await createWorkflowEnvironment({ webhook_url: receiver.url, queues: [SANDBOX_CLOCK_TASK_QUEUE] });
  mkdirSync(folder, { recursive: true });
  const there = new Set(histories().map(({ name }) => name));
  for (const [name, flow] of Object.entries(FLOWS).filter(([flowName]) => !there.has(flowName))) {
    receiver.answer((response) => response.writeHead(200).end());
    const workflow_id = await flow(world, receiver);
    await untilClosed(world, workflow_id);
    const history = await world.env.client.workflow.getHandle(workflow_id).fetchHistory();
    writeFileSync(
      path.join(folder, `${name}.json`),
      `${JSON.stringify(withoutMachine(historyToJson(history)), null, 1)}\n`,
    );
  }
  await world.close();
  await receiver.close();
}

/** Nothing of the machine that recorded it; none of this is read by a replay. */
function withoutMachine(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMachine);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => key !== 'identity' && key !== 'stackTrace');
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutMachine(inner)]));
}

function histories(): RecordedHistory[] {
  const names = readdirSync(folder).map((file) => path.basename(file, '.json'));
  return names.map((name) => ({
    name,
    history: JSON.parse(readFileSync(path.join(folder, `${name}.json`), 'utf8')) as object,
  }));
}

test('every flow has been recorded', () => {
  expect(
    histories()
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual([...Object.keys(FLOWS), ...FOUND].toSorted());
});

test('every recorded workflow goes on with the code of today', async () => {
  expect(await replayHistories({ code }, histories())).toEqual({});
});

/** Bundles with changes. Each change has a history that meets it, and whose failure says what it met. */
test.each<[title: string, ...changes: [now: RegExp, then: string, history: string, met: string][]]>([
  [
    'another activity for the charge',
    [/createAndCharge/g, 'chargeAndCreate', 'order-paid-by-token', "command 'chargeAndCreate'"],
  ],
  [
    'another update, and other activities of deliveries, follow-ups, payment links and the end of the window',
    [/"cancelOrder"/g, '"stopOrder"', 'order-cancelled', 'WorkflowExecutionUpdateAccepted'],
    [/attemptDelivery/g, 'deliver', 'delivery-received-at-third', "command 'deliverLocally'"],
    [/executeFollowUp/g, 'carryOut', 'refund-approved', "command 'carryOut'"],
    [/readPaymentLink\b/g, 'findPaymentLink', 'payment-link-declined-then-paid', "command 'findPaymentLink'"],
    [/closeCaptureWindow/g, 'endWindow', 'authorization-lapsed', "command 'endWindow'"],
  ],
])('a change that breaks running workflows is found: %s', async (_title, ...changes) => {
  const [program = '', map = ''] = code.split(MAP);
  let changed = program;
  for (const [now, then] of changes) {
    const before = changed;
    changed = before.replaceAll(now, then);
    expect(changed).not.toBe(before);
  }
  // Those alone: to replay all of them for every change takes minutes on a slow machine and proves no more.
  const met = Object.fromEntries(changes.map(([, , history, what]) => [history, expect.stringContaining(what)]));
  const failures = await replayHistories(
    { code: changed + MAP + map },
    histories().filter(({ name }) => Object.hasOwn(met, name)),
  );
  expect(failures).toEqual(met);
});

const MAP = '\n//# sourceMappingURL=';

/** A way through a workflow, which ends by itself in time; answers the workflow's id. */
type Flow = (world: WorkflowEnvironment, receiver: Receiver) => Promise<string>;
type OrderOptions = NonNullable<Parameters<typeof createAnOrder>[1]>;
type Capture = Pick<OrderOptions, 'capture_mode' | 'capture_period'>;

const by = (card: CardName, options: OrderOptions = {}) => ({ card_number: CARDS[card].number, ...options });
const declined = CARDS.do_not_honor.number;

/** An order that is created so, and what happens to it. */
const order =
  (options: OrderOptions = {}, steps?: (order: TestOrder, world: WorkflowEnvironment) => Promise<unknown>): Flow =>
  async (world) => {
    const created = await createAnOrder(world, options);
    await steps?.(created, world);
    return orderWorkflowId(created.id);
  };

/** An authorization of 500, and what happens to it. */
const authorization = (
  steps?: (order: TestOrder, world: WorkflowEnvironment) => Promise<unknown>,
  { card = 'approved', capture_mode = 'manual', capture_period }: Capture & { card?: CardName } = {},
): Flow => order(by(card, { capture_mode, ...(capture_period && { capture_period }) }), steps);

/** What follows an order that is paid or ended: `steps` answers the id of the follow-up order. */
const followUp =
  (
    options: OrderOptions,
    steps: (order: TestOrder, world: WorkflowEnvironment) => Promise<string | FollowUpInput>,
  ): Flow =>
  async (world) => {
    const input = await steps(await createAnOrder(world, options), world);
    if (typeof input === 'string') return orderWorkflowId(input);
    // The workflow may refuse it.
    if (input.requested_by === 'merchant') await startFollowUp(world, input).catch(() => undefined);
    else await followUpsOf(world).startOrPoll(input);
    return orderWorkflowId(input.id);
  };

const followUpsOf = ({ env, database }: WorkflowEnvironment) =>
  createWorkflowClients({ client: env.client, db: database.db }).follow_ups;

const paymentLink =
  (period: number | undefined, steps: (link: TestLink, world: WorkflowEnvironment) => Promise<unknown>): Flow =>
  async (world) => {
    const link = await createALink(world, period === undefined ? {} : { period });
    await steps(link, world);
    return paymentLinkWorkflowId(link.id);
  };

/** As a schedule does. */
const scheduled =
  (workflow: string): Flow =>
  async ({ env }) =>
    (await env.client.workflow.start(workflow, { workflowId: workflow, taskQueue: TASK_QUEUE })).workflowId;

/** The webhook of a paid order; `status` answers its attempts. */
const delivery =
  (status: (n: number) => number, steps?: (order: TestOrder, world: WorkflowEnvironment) => Promise<unknown>): Flow =>
  async (world, receiver) => {
    receiver.received.splice(0);
    receiver.answer((response, n) => response.writeHead(status(n)).end());
    const paid = await createAnOrder(world, by('approved'));
    await steps?.(paid, world);
    return deliveryWorkflowId({ order_id: paid.id, n: 1 });
  };

const AUTHORIZED = by('approved', { capture_mode: 'manual' });
const refundOf = ({ id }: TestOrder, amount = 200) => followUpOf(id, 'refund', { amount });

/** Every way through a workflow, by name. */
const FLOWS: Record<string, Flow> = {
  'payment-link-declined-then-paid': paymentLink(undefined, async (link) => {
    await link.pay(declined);
    await link.pay(CARDS.approved.number);
  }),
  'payment-link-challenge-unfinished-then-expired': paymentLink(40 * MINUTE, (link) =>
    link.pay(CARDS.challenge.number),
  ),
  'payment-link-ended-by-its-merchant': paymentLink(undefined, ({ handle }) =>
    handle.executeUpdate(endPaymentLinkUpdate, { args: [{ request: aRequest() }] }),
  ),
  'payment-link-continued-in-a-new-run': paymentLink(40 * MINUTE, async ({ id, handle }, { env }) => {
    await handle.terminate('continued');
    await env.client.workflow.start(PAYMENT_LINK_WORKFLOW, {
      workflowId: paymentLinkWorkflowId(id),
      taskQueue: TASK_QUEUE,
      args: [{ payment_link_id: id, continued: true }],
    });
  }),
  'payment-link-expired-by-sandbox-clock': paymentLink(30 * MINUTE, async ({ id }, { env, database }) => {
    const { sandbox_clocks } = createWorkflowClients({ client: env.client, db: database.db });
    await sandbox_clocks.advance(KINDS.payment_link, { id, project_id: PROJECT.id }, anHour(), aRequest());
  }),
  'search-index-check': scheduled(SEARCH_INDEX_CHECK_WORKFLOW),
  settlements: scheduled(SETTLEMENTS_WORKFLOW),
  audit: scheduled(AUDIT_WORKFLOW),
  async 'incident-closed'({ env, database: { db } }) {
    const { incidents } = createWorkflowClients({ client: env.client, db });
    const [order_id, transaction_id] = [uuidv7(), uuidv7()];
    const of = { kind: 'status', object_id: transaction_id, project_id: PROJECT.id, order_id, transaction_id } as const;
    const differs = { currency: 'EUR', record_amount: 0, processor_amount: 100, description: 'A difference.' };
    const incident_id = (await recordDifferences(db, [{ ...of, ...differs }], Date.now()))[0]!;
    await incidents.start({ incident_id });
    await until('its first event is done', async () => (await findIncident(db, incident_id))!.opened_event !== null);
    await closeIncident(db, incident_id, { closed_by: 'audit', reason: 'Gone.', now: Date.now() });
    await incidents.resume({ incident_id });
    return incidentWorkflowId(incident_id);
  },
  async 'webhook-recovery-paused-then-completed'({ env, database: { db } }, receiver) {
    const { webhook_recoveries } = createWorkflowClients({ client: env.client, db });
    for (let n = 0; n < 6; n += 1) await aFailedDelivery(db);
    receiver.answer((response) => response.writeHead(500).end());
    const recovery_id = await aWebhookRecovery(db);
    const recovery = { recovery_id, project_id: PROJECT.id };
    await webhook_recoveries.start(recovery);
    const is = async () => (await findWebhookRecovery(db, recovery_id))!.status;
    await until('it is paused', async () => (await is()) === 'paused');
    await moveWebhookRecovery(db, recovery_id, { to: 'running', now: new Date() });
    await webhook_recoveries.resume(recovery);
    await until('it is completed', async () => (await is()) === 'completed');
    return webhookRecoveryWorkflowId(recovery_id);
  },
  async erasure({ env, database: { db } }) {
    const erasure_id = uuidv7();
    const { erasures } = createWorkflowClients({ client: env.client, db });
    const subject = `email_address:${'0'.repeat(64)}`;
    await erasures.start({ erasure_id, project_id: PROJECT.id, subject });
    return erasureWorkflowId(erasure_id);
  },
  async 'receiver-check'({ env, database: { db } }, receiver) {
    const id = uuidv7();
    const check = { id, project_id: PROJECT.id, webhook_url: receiver.url };
    await db.transaction((trx) => beginReceiverCheck(trx, check, Date.now()));
    const { receiver_checks } = createWorkflowClients({ client: env.client, db });
    await receiver_checks.start({ check_id: id, project_id: PROJECT.id });
    return receiverCheckWorkflowId(id);
  },
  'order-paid-by-token': order(by('approved')),
  'order-declined-by-token': order(by('do_not_honor')),
  'order-declined-then-paid': order({}, async ({ pay }) => {
    await pay(declined, 1);
    await pay(CARDS.approved.number, 2);
  }),
  'order-declined-five-times': order({}, async ({ pay }) => {
    for (let attempt = 1; attempt <= 5; attempt += 1) await pay(declined, attempt);
  }),
  'order-announced-then-paid': order({ transaction_period: 10 * MINUTE }, ({ pay }) => pay(CARDS.approved.number)),
  'order-cancelled': order({ transaction_period: 10 * MINUTE }, ({ cancel }) => cancel()),
  'order-cancelled-after-decline': order({}, async ({ pay, cancel }) => {
    await pay(declined);
    await cancel();
  }),
  'order-cancelled-at-the-issuer': order(by('challenge'), cancelAtTheIssuer('3333')),
  'order-expired': order({ transaction_period: 10 * MINUTE }),
  'order-expired-after-decline': order({}, ({ pay }) => pay(declined)),
  'order-expired-by-sandbox-clock': order({}, advanceByAnHour),
  'order-answer-lost': order(by('lost_answer')),
  'order-answer-never-came': order(by('no_answer')),
  'order-challenge-passed': order(by('challenge'), async (paid) => {
    await answerAtIssuer(paid, { code: '0101' });
    await paid.handle.signal(processorAnswered);
  }),
  'order-challenge-never-finished': order(by('challenge')),
  async 'order-came-too-late'(world) {
    const id = uuidv7();
    await createAnOrder(world, by('approved', { id, input: { request: aLateRequest() } })).catch(() => undefined);
    return orderWorkflowId(id);
  },
  /** The request died with the servers after its order was written: the record is all there is. */
  async 'order-creation-lost'(world) {
    const charge = aCharge(await vaultToken(world, CARDS.approved.number));
    const now = await world.now();
    const end = now + 30 * MINUTE;
    const ends = { created: now, expires_at: end, transaction_expires_at: end, request: aRequest() };
    await insertOrder(world.database.db, charge.order, charge.transaction, ends);
    return await startAlone(world, charge.order.id);
  },
  'order-creation-lost-unwritten': (world) => startAlone(world, uuidv7()),
  'order-polled-by-an-operator': order(by('processing_approved'), async (open) => {
    await becomesDue(open);
    await open.handle.executeUpdate(pollNowUpdate);
  }),
  'order-outcome-set-approved': order(by('processing_approved'), ({ id }, world) => setOutcome(world, id, 'approved')),
  'order-outcome-set-declined': order(by('processing_declined'), ({ id }, world) => setOutcome(world, id, 'declined')),
  'sandbox-clock': async (world, receiver) => {
    const workflow_id = await order({}, advanceByAnHour)(world, receiver);
    return sandboxClockWorkflowId(workflow_id.replace(/^order:/, ''));
  },
  'authorization-captured': authorization(async ({ follow }) => {
    await follow('capture', 300);
    await follow('capture');
  }),
  'authorization-voided': authorization(async ({ follow }) => {
    await follow('void', 200);
    await follow('void');
  }),
  'authorization-captured-then-lapsed': authorization(({ follow }) => follow('capture', 300)),
  'authorization-lapsed': authorization(),
  'authorization-lapsed-by-sandbox-clock': authorization(advanceByAnHour),
  'authorization-delayed': authorization(({ follow }) => follow('void', 200), { capture_mode: 'delayed' }),
  'authorization-delayed-refused': authorization(undefined, { card: 'capture_refused', capture_mode: 'delayed' }),
  'authorization-refused-after-its-window': authorization(
    async (held, world) => {
      await duringOutage(world, held, 'capture', async () => {
        const capture = await held.follow('capture', 300);
        await world.env.sleep(2 * MINUTE);
        return capture;
      });
    },
    { card: 'capture_refused', capture_period: 'PT1M' },
  ),
  'authorization-lost-and-found': authorization(async ({ handle, follow }) => {
    await handle.terminate('lost');
    await follow('capture');
  }),
  'capture-approved': followUp(AUTHORIZED, ({ follow }) => follow('capture')),
  'capture-refused': followUp(by('capture_refused', { capture_mode: 'manual' }), ({ follow }) => follow('capture')),
  'capture-later': followUp(AUTHORIZED, (held, world) =>
    duringOutage(world, held, 'capture', () => held.follow('capture')),
  ),
  'void-approved': followUp(AUTHORIZED, ({ follow }) => follow('void')),
  'void-later': followUp(AUTHORIZED, (held, world) => duringOutage(world, held, 'void', () => held.follow('void'))),
  'refund-approved': followUp(by('approved'), async (paid) => refundOf(paid)),
  'refund-refused-by-the-processor': followUp(by('refund_refused'), async (paid) => refundOf(paid)),
  'refund-refused': followUp(by('approved'), async (paid) => refundOf(paid, 501)),
  'refund-later': followUp(by('approved'), (paid, world) =>
    duringOutage(world, paid, 'refund', async () => {
      const input = refundOf(paid);
      await startFollowUp(world, input);
      return input.id;
    }),
  ),
  'refund-outcome-set-declined': followUp(by('refund_processing'), async (paid, world) => {
    const input = refundOf(paid);
    await startFollowUp(world, input);
    await setOutcome(world, input.id, 'declined');
    return input.id;
  }),
  chargeback: followUp(by('approved'), (paid) => ofTheProcessor(paid, 'chargeback', 200)),
  'chargeback-beyond-what-was-captured': followUp(by('approved'), async (paid, world) => {
    await untilClosed(world, (await startFollowUp(world, refundOf(paid, 500))).workflowId);
    return await ofTheProcessor(paid, 'chargeback', 500);
  }),
  'chargeback-unknown': followUp(by('approved'), async ({ id }) =>
    processorFollowUp(id, 'chargeback', `${transactionIdOf(id, 1)}:forged`),
  ),
  'reversal-of-chargeback': followUp(by('approved'), async (paid, world) => {
    const chargeback = await ofTheProcessor(paid, 'chargeback', 500);
    await followUpsOf(world).startOrPoll(chargeback);
    await untilClosed(world, orderWorkflowId(chargeback.id));
    return await ofTheProcessor(paid, 'chargeback_reversal', 500);
  }),
  'reversal-asked-for-after-the-end': followUp(by('challenge'), async (ended) => {
    await cancelAtTheIssuer('0101')(ended);
    return reversalOf(ended).id;
  }),
  'reversal-asked-for-by-sandbox-clock': followUp(by('challenge'), async (ended, world) => {
    await cancelAtTheIssuer('0101')(ended);
    await advanceByAnHour(ended, world);
    return reversalOf(ended).id;
  }),
  'reversal-of-late-approval': followUp(by('challenge'), async (ended) => {
    await cancelAtTheIssuer('0101')(ended);
    return reversalOf(ended);
  }),
  'reversal-of-late-approval-later': followUp(by('challenge'), async (ended, world) => {
    await cancelAtTheIssuer('0101')(ended);
    return await duringOutage(world, ended, 'reversal', async () => {
      await notifyFollowUp(world, reversalOf(ended));
      return reversalOf(ended).id;
    });
  }),
  'reversal-of-nothing': followUp(by('challenge'), async (ended) => {
    await cancelAtTheIssuer('3333')(ended);
    return reversalOf(ended);
  }),
  'delivery-received': delivery(() => 200),
  'delivery-received-at-third': delivery((n) => (n < 3 ? 500 : 200)),
  'delivery-failed': delivery(() => 500),
  'delivery-failed-by-sandbox-clock': delivery(() => 500, advanceByAnHour),
  'delivery-paused-resumed-and-delivered-now': delivery(
    (n) => (n < 3 ? 500 : 200),
    async ({ id: order_id }, { env, database: { db } }) => {
      const { deliveries } = createWorkflowClients({ client: env.client, db });
      const failed = async (times: number) =>
        await until('attempts failed', async () => (await db('webhook_attempts').where({ order_id })).length === times);
      const request = (operation: Parameters<typeof requestOfOperator>[2]) =>
        requestOfOperator({ db, deliveries }, { order_id, n: 1 }, operation);
      await failed(1);
      await request('pauseDelivery');
      await env.sleep(10 * MINUTE);
      await request('resumeDelivery');
      await failed(2);
      await request('deliverNow');
    },
  ),
};

const anHour = () => ({ request_id: uuidv7(), advance: { advance_ms: 60 * MINUTE } });

/** Advances the clock of an order by an hour, which is past its expiry. */
async function advanceByAnHour({ id }: TestOrder, { env, database }: WorkflowEnvironment): Promise<void> {
  const { sandbox_clocks } = createWorkflowClients({ client: env.client, db: database.db });
  await sandbox_clocks.advance(KINDS.order, { id, project_id: PROJECT.id }, anHour(), aRequest());
}

async function setOutcome({ env }: WorkflowEnvironment, id: string, outcome: 'approved' | 'declined'): Promise<void> {
  await env.client.workflow.getHandle(orderWorkflowId(id)).executeUpdate(setOutcomeUpdate, {
    args: [{ transaction_id: transactionIdOf(id, 1), outcome, reason: 'Bank statement', operator: 'Ada' }],
  });
}

async function startAlone({ env }: WorkflowEnvironment, order_id: string): Promise<string> {
  const options = { workflowId: orderWorkflowId(order_id), taskQueue: TASK_QUEUE, args: [{ order_id }] };
  return (await env.client.workflow.start(ORDER_WORKFLOW, options)).workflowId;
}

/** Cancels an order while its customer is at the issuer, who then enters this code. */
function cancelAtTheIssuer(code: string): (order: TestOrder) => Promise<void> {
  return async (open) => {
    await open.cancel();
    await answerAtIssuer(open, { code });
  };
}

const reversalOf = ({ id }: TestOrder) =>
  followUpOf(id, 'reversal', { id: reversalOrderId(transactionIdOf(id, 1)), requested_by: 'service' });

/** The processor's own doing, as its notification reports it: what is to be recorded. */
async function ofTheProcessor(
  { id }: TestOrder,
  operation: 'chargeback' | 'chargeback_reversal',
  amount: number,
): Promise<FollowUpInput> {
  const transaction_id = transactionIdOf(id, 1);
  const response = await postControl(stack(), 'chargebacks', { transaction_id, operation, amount });
  const { idempotency_key } = (await response.json()) as { idempotency_key: string };
  return processorFollowUp(id, operation === 'chargeback' ? 'chargeback' : 'reversal', idempotency_key);
}

function processorFollowUp(id: string, kind: 'chargeback' | 'reversal', processor_key: string): FollowUpInput {
  const order_id = processorOrderId(transactionIdOf(id, 1), processor_key);
  return followUpOf(id, kind, { id: order_id, requested_by: 'processor', processor_key });
}

/** Requests a follow-up order while the processor is away, which then tells its outcome; answers its id. */
async function duringOutage(
  { env, database }: WorkflowEnvironment,
  { id }: TestOrder,
  operation: 'capture' | 'void' | 'refund' | 'reversal',
  request: () => Promise<string>,
): Promise<string> {
  const merchant = new Merchant();
  await merchant.addFault({ kind: 'outage', operation, order_id: id });
  const order_id = await request();
  await merchant.removeFaults();
  await env.client.workflow.getHandle(orderWorkflowId(order_id)).signal(processorAnswered);
  // In real time: while an activity runs, the server's clock must not.
  await until('its outcome is known', async () =>
    ['completed', 'error'].includes((await findStoredOrder(database.db, order_id))?.status ?? ''),
  );
  return order_id;
}

/** Lets time pass until the workflow has closed. */
async function untilClosed({ env }: WorkflowEnvironment, workflow_id: string): Promise<void> {
  await env.client.workflow.getHandle(workflow_id).result();
}
