import { WorkflowUpdateFailedError } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { v7 as uuidv7 } from 'uuid';
import { insertOrder } from '../../src/db/orders/insert-order';
import { findStoredOrder, type StoredOrder } from '../../src/db/orders/stored-order';
import { PAYMENT_LINK_ATTEMPTS_MAX } from '../../src/domain/payment-link';
import { chargeIdempotencyKey } from '../../src/domain/transaction';
import { ServiceError } from '../../src/errors';
import { linkOrderId, transactionId } from '../../src/ids';
import type { Processor } from '../../src/processor/client';
import { KINDS } from '../../src/temporal/kinds';
import { startAndUpdate } from '../../src/temporal/object-workflows';
import { createWorkflowClients } from '../../src/temporal/workflows';
import {
  PAYMENT_LINK_STATUS,
  PAYMENT_LINK_WORKFLOW,
  TASK_QUEUE,
  endPaymentLinkUpdate,
  orderWorkflowId,
  paymentLinkWorkflowId,
  processorAnswered,
} from '../../workflows/messages';
import { CARDS, PROJECT, aCharge, aLateRequest, aRequest } from '../support/domain';
import { readLedger } from '../support/ledger';
import { Merchant } from '../support/merchant';
import { setUp } from '../support/set-up';
import { answerIssuer, runProcessor } from '../support/processor';
import { createWorkflowEnvironment } from '../support/temporal';
import { until } from '../support/waits';
import { createALink, vaultToken, type TestLink } from '../support/workflow-orders';

const DAY = 24 * 60 * 60_000;
const MINUTE = 60_000;

const merchant = new Merchant();
/** Called before a charge is sent. */
let beforeCharge: () => Promise<void> = () => Promise.resolve();
/** Called before the link's workflow gets the record that it reads. */
let beforeRecord: () => Promise<void> = () => Promise.resolve();
const world = setUp(() => {
  const processor = runProcessor();
  const delayed: Processor = {
    ...processor,
    async execute(...charge) {
      await beforeCharge();
      return await processor.execute(...charge);
    },
  };
  return createWorkflowEnvironment({
    services: { processor: delayed },
    afterActivity: async (activity) => {
      if (activity === 'readPaymentLink') await beforeRecord();
    },
  });
});
afterEach(async () => {
  beforeCharge = () => Promise.resolve();
  beforeRecord = () => Promise.resolve();
  await merchant.removeFaults();
});

const becomes = (link: TestLink, story: string) =>
  until(`the link becomes ${story}`, async () => (await link.statuses()) === story);

async function refusalOf(attempt: Promise<unknown>): Promise<string | undefined> {
  const [{ status, ...settled }] = await Promise.allSettled([attempt]);
  const error = 'reason' in settled ? (settled.reason as unknown) : undefined;
  if (error instanceof ServiceError) return error.error;
  if (!(error instanceof WorkflowUpdateFailedError)) throw new Error(`${status}: it was not refused`, { cause: error });
  const cause = error.cause as { type?: string; cause?: { type?: string } };
  return cause.cause?.type ?? cause.type;
}

/** What the customer enters on the issuer's page of an order. */
async function answerIssuerOf(order: StoredOrder, form: Record<string, string>): Promise<void> {
  await answerIssuer(order.transactions[0]?.challenge_url ?? '', form);
  await world.env.client.workflow.getHandle(orderWorkflowId(order.id)).signal(processorAnswered);
}

const workflows = () => createWorkflowClients({ client: world.env.client, db: world.database.db });

/** The status that the link's workflow shows in the Web UI. */
const shownStatus = async (link: TestLink) =>
  (await link.handle.describe()).typedSearchAttributes.get(PAYMENT_LINK_STATUS);

async function eventNames(link: TestLink): Promise<string[]> {
  const { events } = await link.handle.fetchHistory();
  return (events ?? []).map(({ eventType }) => temporal.api.enums.v1.EventType[Number(eventType)] ?? '');
}

describe('attempts, one after the other', () => {
  test('rules 19.3: new, all_unsuccessful after a decline, completed once one is paid; then the workflow closes', async () => {
    const link = await createALink(world);
    expect(await link.statuses()).toBe('new:');
    await link.pay(CARDS.do_not_honor.number);
    expect(await link.statuses()).toBe('all_unsuccessful: error');
    const paid = await link.pay(CARDS.approved.number);
    expect(await link.statuses()).toBe('completed: error completed');
    expect(await link.view()).toMatchObject({ completed_order_id: paid.id, attempts: 2 });
    expect(await link.handle.result()).toBe('completed');
    expect(paid).toMatchObject({ merchant_order_id: 'L-1', amount: 500, related_payment_link_id: link.id });
    expect(paid.transactions[0]?.events.map(({ event, source }) => [event, source])).toEqual([
      ['new', 'customer'],
      ['accepted', 'processor'],
    ]);
  });

  test('rules 19.6: paid after the payer was answered that it is in progress: the workflow closes', async () => {
    const link = await createALink(world);
    let send = () => {};
    beforeCharge = () => new Promise((resolve) => (send = resolve));
    const deadline_at = Date.now() + 3_000;
    await link.pay(CARDS.approved.number, uuidv7(), { request: aRequest({ begin_before: deadline_at, deadline_at }) });
    expect(await link.statuses()).toBe('processing: new');
    send();
    await becomes(link, 'completed: completed');
    await until('its workflow is closed', async () => (await link.handle.describe()).status.name === 'COMPLETED');
  });

  test('rules 19.4: who was refused during the 3-D Secure of another payer pays once that has failed', async () => {
    const link = await createALink(world);
    const pending = await link.pay(CARDS.challenge.number);
    const view_id = uuidv7();
    expect(await refusalOf(link.pay(CARDS.approved.number, view_id))).toBe('TransactionAlreadyStarted');
    await answerIssuerOf(pending, { code: '3333' });
    await becomes(link, 'all_unsuccessful: error');
    expect(await link.pay(CARDS.approved.number, view_id)).toMatchObject({ status: 'completed' });
    expect(await link.statuses()).toBe('completed: error completed');
  });

  test('rules 19.13: who was answered too late pays with the next form of the same browser', async () => {
    const link = await createALink(world);
    const view_id = uuidv7();
    const late = link.pay(CARDS.approved.number, view_id, { request: aLateRequest() });
    expect(await refusalOf(late)).toBe('ServiceUnavailable');
    expect(await link.statuses()).toBe('new:');
    const request = aRequest({ begin_before: Date.now() + 20_000 });
    expect(await link.pay(CARDS.approved.number, view_id, { request })).toMatchObject({ status: 'completed' });
    expect(await link.statuses()).toBe('completed: completed');
  });

  test('rules 19.13: a form in time that the worker gets together with one that came too late pays', async () => {
    const link = await createALink(world);
    const view_id = uuidv7();
    const late = link.pay(CARDS.approved.number, view_id, { request: aLateRequest() }).catch(() => undefined);
    const deadline_at = Date.now() + 20_000;
    const request = aRequest({ has_idempotency_key: false, begin_before: deadline_at - 2_000, deadline_at });
    expect(await link.pay(CARDS.approved.number, view_id, { request })).toMatchObject({ status: 'completed' });
    await late;
    expect(await link.statuses()).toBe('completed: completed');
  });

  test('the Web UI shows the status of the link: in progress, and how it went', async () => {
    const link = await createALink(world);
    const order = await link.pay(CARDS.challenge.number);
    await until('a payment is in progress', async () => (await shownStatus(link)) === 'processing');
    await answerIssuerOf(order, { code: '3333' });
    await until('it has failed', async () => (await shownStatus(link)) === 'all_unsuccessful');
    await link.pay(CARDS.approved.number);
    expect(await link.handle.result()).toBe('completed');
    expect(await shownStatus(link)).toBe('completed');
  });

  test('a record that is read before a newer one changes nothing', async () => {
    const link = await createALink(world);
    let answer = () => {};
    beforeRecord = () => new Promise((resolve) => (answer = resolve));
    const order = await link.pay(CARDS.challenge.number);
    await answerIssuerOf(order, { code: '3333' });
    await becomes(link, 'all_unsuccessful: error');
    beforeRecord = () => Promise.resolve();
    answer();
    await until('the workflow knows that it failed', async () => (await shownStatus(link)) === 'all_unsuccessful');
    await world.env.sleep(31 * DAY);
    await until('it expires', async () => (await link.view()).status === 'expired');
  });
});

describe('at the same moment', () => {
  test('rules 19.7: a form that is sent when the link has ended makes no order', async () => {
    for (const end of [
      (link: TestLink) => link.handle.executeUpdate(endPaymentLinkUpdate, { args: [{ request: aRequest() }] }),
      () => world.env.sleep(11 * MINUTE),
    ]) {
      const link = await createALink(world, { period: 10 * MINUTE });
      await end(link);
      expect(await refusalOf(link.pay(CARDS.approved.number))).toBe('TransactionAlreadyStarted');
      expect(await link.statuses()).toBe('expired:');
    }
  });

  test('the order of an attempt is written and its workflow lost: recovery charges it once, and the link completes', async () => {
    const link = await createALink(world);
    const { project_id, expires_at, clock_offset_ms } = await link.view();
    const view_id = uuidv7();
    const order_id = linkOrderId(link.id, view_id);
    const charge = aCharge(await vaultToken(world, CARDS.approved.number));
    const order = { ...charge.order, id: order_id };
    const created = await world.now();
    const end = created + 30 * MINUTE;
    await insertOrder(
      world.database.db,
      order,
      { ...charge.transaction, id: transactionId(order_id, 1) },
      {
        ...{ created, expires_at: end, transaction_expires_at: end, request: aRequest() },
        payment_link: { id: link.id, expires_at: Date.parse(expires_at), clock_offset_ms },
      },
    );
    expect(await refusalOf(link.pay(CARDS.approved.number))).toBe('TransactionAlreadyStarted');
    await workflows().orders.resume({ order_id, project_id });
    await becomes(link, 'completed: completed');
    // The payer, who had no answer, sends the form again.
    expect(await link.pay(CARDS.approved.number, view_id)).toMatchObject({ id: order_id, status: 'completed' });
    expect(await link.handle.result()).toBe('completed');
    expect(await readLedger(order_id)).toMatchObject([{ operation: 'sale', result: 'approved', requests: 1 }]);
  });

  test('the workflow of the link is lost when its order ends: payments go on, and recovery restarts it from the row', async () => {
    const link = await createALink(world);
    await link.handle.terminate('lost');
    await link.pay(CARDS.do_not_honor.number);
    expect(await link.statuses()).toBe('all_unsuccessful: error');
    await workflows().payment_links.resume(await link.view());
    await until('it shows the row', async () => (await shownStatus(link)) === 'all_unsuccessful');
    await link.pay(CARDS.approved.number);
    expect(await link.statuses()).toBe('completed: error completed');
    expect(await link.handle.result()).toBe('completed');
  });
});

describe('a failover that lost the last commits of a link', () => {
  /** The record as it was before its attempts. */
  async function lose(link: TestLink): Promise<void> {
    const { db } = world.database;
    for (const { id: order_id } of (await link.view()).orders) {
      const transactions = db('transactions').where({ order_id }).select('id');
      await db('transaction_events').whereIn('transaction_id', transactions).delete();
      await db('transactions').where({ order_id }).delete();
      await db('orders').where({ id: order_id }).delete();
      await world.env.client.workflow
        .getHandle(orderWorkflowId(order_id))
        .terminate('lost')
        .catch(() => undefined);
    }
    await db('payment_links').where({ id: link.id }).update({ status: 'new', attempts: 0, version: 0 });
  }

  test('its attempt is lost: once the record is read again the link can be paid', async () => {
    const link = await createALink(world);
    await link.pay(CARDS.challenge.number);
    await lose(link);
    // As recovery does.
    await workflows().payment_links.resume(await link.view());
    await link.pay(CARDS.approved.number);
    expect(await link.statuses()).toBe('completed: completed');
  });

  test('its attempts are lost: it expires all the same', async () => {
    const link = await createALink(world, { period: 60 * MINUTE });
    for (const _ of [1, 2]) await link.pay(CARDS.do_not_honor.number);
    await lose(link);
    await world.env.sleep(61 * MINUTE);
    await until('it expires', async () => (await link.view()).status === 'expired');
    expect(await link.handle.result()).toBe('expired');
    expect((await eventNames(link)).length).toBeLessThan(100);
  });
});

describe('the end of a link', () => {
  test('rules 10.19: of a link that was never written: NotFound at once', async () => {
    const id = uuidv7();
    const { client } = world.env;
    const start = { kind: KINDS.payment_link, object: { id, project_id: PROJECT.id } };
    const ended = startAndUpdate(client, start, { definition: endPaymentLinkUpdate, args: [{ request: aRequest() }] });
    expect(await refusalOf(ended)).toBe('NotFound');
    expect(await client.workflow.getHandle(paymentLinkWorkflowId(id)).result()).toBe('refused');
  });

  test('rules 19.7: an order never outlives its link; one in 3-D Secure expires with it', async () => {
    const link = await createALink(world, { period: 10 * MINUTE });
    const order = await link.pay(CARDS.challenge.number);
    expect(order.expires_at).toBe((await link.view()).expires_at);
    await world.env.sleep(11 * MINUTE);
    await becomes(link, 'expired: expired');
  });

  test('rules 19.7: the end waits for an order whose outcome is unknown, and its approval completes the link', async () => {
    const link = await createALink(world, { period: 5 * MINUTE });
    const order_view = uuidv7();
    const transaction_id = transactionId(linkOrderId(link.id, order_view), 1);
    await merchant.addFault({ idempotency_key: chargeIdempotencyKey(transaction_id), kind: 'lost_answer' });
    const order = await link.pay(CARDS.approved.number, order_view);
    expect(order.transactions[0]?.status).toBe('processing');
    await world.env.sleep(6 * MINUTE);
    expect(await link.statuses()).toBe('processing: processing');
    await merchant.removeFaults();
    await world.env.client.workflow.getHandle(orderWorkflowId(order.id)).signal(processorAnswered);
    await becomes(link, 'completed: completed');
  });

  test('rules 19.10: an approval after the end of the link is reversed, and the link stays expired', async () => {
    const link = await createALink(world, { period: 10 * MINUTE });
    const order = await link.pay(CARDS.challenge.number);
    await world.env.sleep(11 * MINUTE);
    await becomes(link, 'expired: expired');
    await answerIssuerOf(order, { code: '0101' }).catch(() => undefined);
    await world.env.sleep(16 * MINUTE);
    await until('the money is given back', async () => {
      const view = await findStoredOrder(world.database.db, order.id);
      return view?.follow_ups.some(({ kind, status }) => kind === 'reversal' && status === 'completed');
    });
    expect(await link.statuses()).toBe('expired: expired');
  });

  test('rules 19.11: its merchant ends it while no payment is in progress', async () => {
    const link = await createALink(world);
    await link.pay(CARDS.do_not_honor.number);
    const pending = await link.pay(CARDS.challenge.number);
    expect(await refusalOf(link.handle.executeUpdate(endPaymentLinkUpdate, { args: [{ request: aRequest() }] }))).toBe(
      'Conflict',
    );
    await answerIssuerOf(pending, { code: '3333' });
    await becomes(link, 'all_unsuccessful: error error');
    await link.handle.executeUpdate(endPaymentLinkUpdate, { args: [{ request: aRequest() }] });
    expect(await link.view()).toMatchObject({ status: 'expired', ended_by: 'merchant' });
    expect(await link.handle.result()).toBe('expired');
  });
});

test('a new run shows the status as recorded, also when that changed between the runs', async () => {
  const link = await createALink(world);
  await link.pay(CARDS.do_not_honor.number);
  // A workflow that is terminated within a task would stop the time of the test server.
  await until('it has failed', async () => (await shownStatus(link)) === 'all_unsuccessful');
  await link.handle.terminate('continued');
  const { client } = world.env;
  await client.workflow.start(PAYMENT_LINK_WORKFLOW, {
    workflowId: paymentLinkWorkflowId(link.id),
    taskQueue: TASK_QUEUE,
    args: [{ payment_link_id: link.id, continued: true }],
    typedSearchAttributes: [{ key: PAYMENT_LINK_STATUS, value: 'processing' }],
  });
  await until('it waits', async () => (await eventNames(link)).includes('EVENT_TYPE_TIMER_STARTED'));
  const { typedSearchAttributes } = await link.handle.describe();
  expect(typedSearchAttributes.get(PAYMENT_LINK_STATUS)).toBe('all_unsuccessful');
});

test('rules 19.5: 25 attempts in a year, and no more: the link keeps its status to its end, and its history is short', async () => {
  const link = await createALink(world, { period: 365 * DAY });
  for (let n = 1; n <= PAYMENT_LINK_ATTEMPTS_MAX; n += 1) {
    await world.env.sleep(14 * DAY);
    await link.pay(CARDS.do_not_honor.number);
  }
  expect(await refusalOf(link.pay(CARDS.approved.number))).toBe('TransactionAlreadyStarted');
  const { orders, attempts, status } = await link.view();
  expect([orders.length, attempts, status]).toEqual([25, 25, 'all_unsuccessful']);
  expect((await eventNames(link)).length).toBeLessThanOrEqual(6 * PAYMENT_LINK_ATTEMPTS_MAX + 10);
  await world.env.sleep(30 * DAY);
  await until('it expires', async () => (await link.view()).status === 'expired');
  expect((await link.view()).ended_by).toBe('time');
});
