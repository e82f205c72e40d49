import { randomUUID } from 'node:crypto';
import { Client, WorkflowFailedError, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import type { Order } from '../../src/contract/order';
import type { AuditEntry } from '../../src/contract/manage/history';
import { KINDS, startOptions } from '../../src/temporal/kinds';
import { startAndUpdate } from '../../src/temporal/object-workflows';
import { FAILURE_CONVERTER } from '../../src/temporal/connect';
import { EncryptingCodec } from '../../src/temporal/payload-codec';
import { transactionId } from '../../src/ids';
import {
  FOLLOW_UP_WORKFLOW,
  cancelOrderUpdate,
  captureOrVoidUpdate,
  clockAdvanced,
  createOrderUpdate,
  endPaymentLinkUpdate,
  orderWorkflowId,
  paymentLinkWorkflowId,
  pollNowUpdate,
  setOutcomeUpdate,
  submitPaymentUpdate,
  type SetOutcomeInput,
} from '../../workflows/messages';
import { readVariables } from '../../src/stack/launch';
import { ledgerOf } from '../support/ledger';
import { Merchant, statusesOf } from '../support/merchant';
import { capture, createAuthorization, makeDue, payingTransactionId, refund } from '../support/merchant-payments';
import { answerOfAdmin } from '../support/admin';
import { stack } from '../support/stack';
import { temporalOf } from '../support/temporal-client';
import { aRequest } from '../support/domain';

const { Payloads } = temporal.api.common.v1;

/**
 * Rules 24.8: somebody reaches Temporal, as another program of its cluster does or a web page whose name was rebound to
 * loopback, and has no key. Nothing that is sent moves money or changes an order, and each can be used afterwards.
 */
const merchant = new Merchant();
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let attacker: Client;
let operator: Client;
let project_id: string;
beforeAll(async () => {
  operator = temporalOf();
  attacker = sending((payloads) => payloads);
  project_id = (await merchant.getProject()).id;
});
afterAll(async () => {
  await operator.connection.close();
});
afterEach(() => merchant.removeFaults());

/** A client that sends such payloads instead of encrypted ones. That it can read answers is for the test alone. */
const sending = (encode: (payloads: Payload[]) => Payload[]) =>
  new Client({
    connection: operator.connection,
    namespace: operator.options.namespace,
    dataConverter: {
      failureConverterPath: FAILURE_CONVERTER,
      payloadCodecs: [
        {
          encode: (payloads) => Promise.resolve(encode(payloads)),
          decode: (payloads, context) => codec.decode(payloads, context),
        },
      ],
    },
  });
const codec = new EncryptingCodec(stack().payload_keys);

/** How a call ends: an answer that is refused as Temporal or a worker tells its sender. */
const attack = (send: (client: Client) => Promise<unknown>, client = attacker) =>
  client.withDeadline(Date.now() + MINUTE, () =>
    send(client).then(
      () => 'done',
      (error: unknown) =>
        error instanceof WorkflowUpdateFailedError || error instanceof WorkflowFailedError ? 'refused' : String(error),
    ),
  );

const orderOf = (client: Client, order_id: string) => client.workflow.getHandle(orderWorkflowId(order_id));

/** A payment's workflow has ended when it is completed. */
function ifClosed(error: unknown): void {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}

async function failedTasksOf({ id }: Order): Promise<number> {
  const { events = [] } = await orderOf(attacker, id).fetchHistory();
  return events!.filter(({ workflowTaskFailedEventAttributes: failed }) => failed).length;
}

const authorized = () => createAuthorization(merchant);
const paid = () => merchant.paidOrder('approved');
const unpaid = () => merchant.createOrder();

/** The processor knows the outcome later, and does not answer when it is asked. */
async function awaited(): Promise<Order> {
  const order = await merchant.paidOrder('processing_approved');
  await merchant.addFault({ kind: 'outage', operation: 'ask', order_id: order.id });
  return order;
}

/** With fields that are not for its sender to say. */
const manualOutcomeOf = (order: Order): SetOutcomeInput =>
  ({
    transaction_id: payingTransactionId(order),
    outcome: 'approved',
    reason: 'Trust me',
    operator: 'forged',
    command_line: { request_id: randomUUID() },
  }) as unknown as SetOutcomeInput;

/** A follow-up order as the API requests it. */
const followUpOf = <Kind extends 'capture' | 'void' | 'refund'>(order: Order, kind: Kind) => ({
  request: aRequest(),
  id: randomUUID(),
  kind,
  project_id,
  requested_by: 'merchant' as const,
  original_order_id: order.id,
  original_transaction_id: payingTransactionId(order),
});

const aTransaction = (order_id: string) => ({
  id: transactionId(order_id, 1),
  attempt: 1,
  payment_method: 'credit-card',
  expiration_period: 'PT30M',
  period: 30 * MINUTE,
});

const anOrder = (id: string) => ({
  id,
  currency: 'EUR',
  amount: 66_600,
  attempts_max: 5,
  charged_by: 'customer' as const,
  expiration_period: 'PT30M',
});

/** A kind of message that harms an order when a worker obeys it. */
interface Attack {
  order: () => Promise<Order>;
  send: (client: Client, order: Order) => Promise<unknown>;
  /** Signals are delivered: nobody tells their sender what becomes of them. */
  is_signal?: true;
  /** What the merchant does with the order afterwards, and how that ends. */
  afterwards: [use: (order: Order) => Promise<{ status: unknown }>, expected: unknown];
}

const cancelled: Attack['afterwards'] = [({ id }) => merchant.cancelOrder(id), 'cancelled'];
const captured: Attack['afterwards'] = [(order) => capture(merchant, order), 200];

const ATTACKS: Record<string, Attack> = {
  'cancels an order': {
    order: unpaid,
    send: (client, { id }) =>
      orderOf(client, id).executeUpdate(cancelOrderUpdate, { args: [{ source: 'merchant', request: aRequest() }] }),
    afterwards: cancelled,
  },
  'advances the clock of an order by 30 days': {
    order: unpaid,
    send: (client, { id }) => orderOf(client, id).signal(clockAdvanced.name, 30 * DAY),
    is_signal: true,
    afterwards: cancelled,
  },
  'pays an order': {
    order: unpaid,
    send: async (client, { id }) => {
      const { payment_method_details } = await merchant.cardTransaction('approved');
      const transaction = { ...aTransaction(id), payment_method_details };
      return await orderOf(client, id).executeUpdate(submitPaymentUpdate, {
        args: [{ request: aRequest(), project_id, is_test: true, transaction }],
      });
    },
    afterwards: cancelled,
  },
  'captures an authorization': {
    order: authorized,
    send: (client, order) =>
      orderOf(client, order.id).executeUpdate(captureOrVoidUpdate, { args: [followUpOf(order, 'capture')] }),
    afterwards: captured,
  },
  'releases an authorization': {
    order: authorized,
    send: (client, order) =>
      orderOf(client, order.id).executeUpdate(captureOrVoidUpdate, { args: [followUpOf(order, 'void')] }),
    afterwards: captured,
  },
  'refunds a payment': {
    order: paid,
    send: async (client, order) => {
      const handle = await client.workflow.start(
        FOLLOW_UP_WORKFLOW,
        startOptions(KINDS.follow_up, followUpOf(order, 'refund')),
      );
      return await handle.result();
    },
    afterwards: [(order) => refund(merchant, order, { amount: 1_250 }), 200],
  },
  'sets a payment as approved': {
    order: awaited,
    send: (client, order) =>
      orderOf(client, order.id).executeUpdate(setOutcomeUpdate, { args: [manualOutcomeOf(order)] }),
    afterwards: [
      async (order) => {
        await merchant.removeFaults();
        await makeDue(merchant, payingTransactionId(order));
        return await merchant.untilStatus(order.id, 'completed');
      },
      'completed',
    ],
  },
};

/** What an attack must not change. */
const stateOf = async (order: Order) => ({
  statuses: statusesOf(await merchant.getOrder(order.id)),
  ledger: await ledgerOf(merchant, order),
});

/** Attacks a new order. Expects that nothing has changed, no workflow task has failed, and the order can be used. */
async function expectUnharmed(name: string, by: Client | ((order: Order) => Promise<Client>)): Promise<void> {
  const { order: make, send, is_signal, afterwards } = ATTACKS[name]!;
  const order = await make();
  const before = await stateOf(order);
  const client = typeof by === 'function' ? await by(order) : by;
  const sent = await attack(() => send(client, order), client);
  // What came before an update is handled before it.
  await orderOf(operator, order.id).executeUpdate(pollNowUpdate).catch(ifClosed);
  const failed_tasks = await failedTasksOf(order);
  expect({ sent, failed_tasks, ...(await stateOf(order)) }).toEqual({
    sent: is_signal ? 'done' : 'refused',
    failed_tasks: 0,
    ...before,
  });
  expect((await afterwards[0](order)).status).toBe(afterwards[1]);
}

test.each(Object.keys(ATTACKS))('a client without a key %s: it is refused', (name) => expectUnharmed(name, attacker));

test('a client without a key creates an order in a live project: it is not there', async () => {
  const live = new Merchant(stack(), stack().live_api_key);
  const { id: project_id } = await live.getProject();
  const id = randomUUID();
  const order = { ...anOrder(id), project_id };
  const sent = await attack((client) =>
    startAndUpdate(
      client,
      { kind: KINDS.order, object: { order_id: id, project_id } },
      { definition: createOrderUpdate, args: [{ request: aRequest(), order, period: MINUTE, is_test: false }] },
    ),
  );
  const { status } = await live.send('GET', `/v1/orders/${id}/`);
  expect([sent, status]).toEqual(['refused', 404]);
  // It has ended, and occupies the id no longer.
  expect((await orderOf(operator, id).describe()).status.name).toBe('FAILED');
});

test('a client without a key ends a payment link: it is refused', async () => {
  const link = await merchant.createPaymentLink();
  const handle = attacker.workflow.getHandle(paymentLinkWorkflowId(link.id));
  expect(await attack(() => handle.executeUpdate(endPaymentLinkUpdate, { args: [{ request: aRequest() }] }))).toBe(
    'refused',
  );
  expect((await merchant.getPaymentLink(link.id)).status).toBe(link.status);
  expect((await merchant.endPaymentLink(link.id)).status).not.toBe(link.status);
});

test('a payload that is copied from another workflow is refused', async () => {
  const cancelledOrder = await unpaid();
  await merchant.cancelOrder(cancelledOrder.id);
  const { events } = await orderOf(attacker, cancelledOrder.id).fetchHistory();
  const [kept] = (events ?? []).flatMap(({ workflowExecutionUpdateAcceptedEventAttributes: accepted }) =>
    accepted?.acceptedRequest?.input?.name === cancelOrderUpdate.name
      ? (accepted.acceptedRequest.input.args?.payloads ?? [])
      : [],
  );
  expect(kept).toBeDefined();
  await expectUnharmed(
    'cancels an order',
    sending(() => [kept!]),
  );
});

describe('an operator, whom the codec server encrypts for', () => {
  const { CODEC_HOST, CODEC_PORT } = readVariables(stack().data_dir);

  /** A client that sends the value, encrypted as the codec server does it for a page of the Web UI. */
  async function sendingAs(value: unknown): Promise<Client> {
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const plain = { metadata: { encoding: base64('json/plain') }, data: base64(JSON.stringify(value)) };
    const response = await fetch(`http://${CODEC_HOST}:${CODEC_PORT}/encode`, {
      method: 'POST',
      headers: { origin: stack().temporal_ui_url!, 'content-type': 'application/json' },
      body: JSON.stringify({ payloads: [plain] }),
    });
    expect(response.status).toBe(200);
    const { payloads } = Payloads.fromObject((await response.json()) as object);
    return sending(() => payloads);
  }

  test.each<[name: string, value: (order: Order) => unknown]>([
    ['cancels an order', () => ({ source: 'merchant' })],
    ['advances the clock of an order by 30 days', () => 30 * DAY],
    ['captures an authorization', (order) => followUpOf(order, 'capture')],
    ['refunds a payment', (order) => followUpOf(order, 'refund')],
  ])('%s: it is refused', (name, value) => expectUnharmed(name, async (order) => sendingAs(value(order))));

  test('rules 24.9: sets an outcome: the audit trail has the name of the one who signed in', async () => {
    const order = await awaited();
    const client = await sendingAs(manualOutcomeOf(order));
    expect(await attack(() => ATTACKS['sets a payment as approved']!.send(client, order), client)).toBe('done');
    const { items } = await answerOfAdmin<{ items: AuditEntry[] }>([
      ...['audit', 'list', '--object', payingTransactionId(order)],
    ]);
    expect(items.map(({ actor, request_id }) => ({ actor, request_id }))).toEqual([
      { actor: { kind: 'temporal', id: 'local' }, request_id: undefined },
    ]);
  });

  test('settles another transaction with the copy of a settlement: it is refused', async () => {
    await expectUnharmed('sets a payment as approved', await sendingAs(manualOutcomeOf(await awaited())));
  });
});
