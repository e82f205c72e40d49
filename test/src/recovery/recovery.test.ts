import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { Recovery, recoverEverything } from '../../../src/recovery/recovery';
import { CHECKS_AT_ONCE } from '../../../src/recovery/row-checks';
import { createActivities } from '../../../activities';
import type { ActivityServices } from '../../../activities/services';
import { beginRestore } from '../../../src/db/backups/restores';
import { connectDatabase } from '../../../src/db/connection';
import { queryRows, type Database } from '../../../src/db/query';
import { announceOperation } from '../../../src/db/orders/announced-operations';
import { insertFollowUp } from '../../../src/db/orders/follow-ups';
import { followUpIdempotencyKey } from '../../../src/domain/follow-up';
import { insertOrder } from '../../../src/db/orders/insert-order';
import { moveOrder } from '../../../src/db/orders/move-order';
import { loadOrderSnapshot } from '../../../src/db/orders/order-snapshot';
import { releaseLease, takeLease } from '../../../src/db/lease';
import { insertPaymentLink } from '../../../src/db/payment-links';
import { findProgress } from '../../../src/db/recovery/progress';
import { ServiceError } from '../../../src/errors';
import { createLogger, type Logger } from '../../../src/log';
import { recordWith } from '../../../src/metrics/recorder';
import { processorOrderId, reversalOrderId, transactionId } from '../../../src/ids';
import { connectTemporal } from '../../../src/temporal/connect';
import { createWorkflowClients } from '../../../src/temporal/workflows';
import {
  ORDER_STATUS,
  deliveryWorkflowId,
  orderWorkflowId,
  paymentLinkWorkflowId,
  processorAnswered,
} from '../../../workflows/messages';
import { createTestDatabase } from '../../support/database';
import {
  aRequest,
  anOrder,
  aTransaction,
  BY_TOKEN,
  CARDS,
  MINUTE,
  NOW,
  PROJECT,
  transactionIdOf,
  type CardName,
} from '../../support/domain';
import { Merchant } from '../../support/merchant';
import { requestOfOperator, UNREACHABLE } from '../../support/operator';
import { aDelivery, aFollowUp, anAcceptedPayment, aStoredOrder } from '../../support/rows';
import { aSilentServer, startReceiver } from '../../support/servers';
import { setUp } from '../../support/set-up';
import { postControl, stack } from '../../support/stack';
import { createWorkflowEnvironment, type WorkflowEnvironment } from '../../support/temporal';
import { until } from '../../support/waits';
import {
  answerAtIssuer,
  createAnOrder,
  startFollowUp,
  followUpOf,
  moneySummaryOf,
  statusesOfRow,
  statusesOfOrder,
  vaultToken,
  type TestOrder,
} from '../../support/workflow-orders';

const log = createLogger({ process: 'test', level: 'silent' });
const recoveryOf = (db: Database, client: Client) =>
  new Recovery({ db, client, workflows: createWorkflowClients({ client, db }), log });
/** Long enough for what was touched to count as left behind. */
const SETTLED = MINUTE + 1;

describe('with a Temporal server that has lost its workflows', () => {
  let world: WorkflowEnvironment;
  const receiver = setUp(startReceiver);
  const merchant = new Merchant();
  beforeAll(async () => {
    world = await createWorkflowEnvironment({ webhook_url: receiver.url });
  });
  afterAll(async () => {
    await world?.close();
  });
  // Each test finishes what it began; to empty the tables would wait for, or break, an activity that is under way.
  afterEach(() => merchant.removeFaults());

  let recovery: Recovery;
  beforeEach(async () => {
    await world.database.db('recovery_progress').delete();
    recovery = recoveryOf(world.database.db, world.env.client);
  });
  // Lets the next one take the lease.
  afterEach(() => recovery.stop());
  const look = async () => await recovery.recover((await world.now()) + SETTLED);
  const ledger = async ({ id }: TestOrder) =>
    (await merchant.ledger(id)).map(({ operation, amount, result }) => `${operation} ${amount} ${result}`);
  const becomes = (order_id: string, expected: string) =>
    until(`the order becomes ${expected}`, async () => (await statusesOfRow(world, order_id)) === expected);
  const handleOf = (order_id: string) => world.env.client.workflow.getHandle(orderWorkflowId(order_id));
  const runOf = async (order_id: string) => {
    const { runId, historyLength, status } = await handleOf(order_id).describe();
    return { runId, historyLength, status: status.name };
  };
  const untilClosed = (order_id: string) =>
    until('its workflow is over', async () => (await runOf(order_id)).status === 'COMPLETED');
  const authorized = (card: CardName = 'approved', capture_period = 'PT1H') =>
    createAnOrder(world, { card_number: CARDS[card].number, capture_mode: 'manual', capture_period });
  /** Lets workflow time pass; nothing else may be under way. */
  const pass = (milliseconds: number) => world.env.sleep(milliseconds);

  const KINDS = ['capture', 'void', 'refund'] as const;
  const MOVED = { capture: '200 captured', void: '200 voided', refund: '500 captured, 200 refunded' };
  const paymentFor = (kind: (typeof KINDS)[number]) =>
    kind === 'refund' ? createAnOrder(world, { card_number: CARDS.approved.number }) : authorized();
  interface Asked {
    kind: (typeof KINDS)[number];
    order: TestOrder;
    order_id: string;
  }
  /** One of each kind, at the same time: of what is asked for here nothing waits for workflow time. */
  const eachKind = (ask: (kind: Asked['kind'], order: TestOrder) => Promise<string>) =>
    Promise.all(
      KINDS.map(async (kind) => {
        const order = await paymentFor(kind);
        return { kind, order, order_id: await ask(kind, order) } satisfies Asked;
      }),
    );
  const isCarriedOutOnce = async ({ kind, order, order_id }: Asked) => {
    await becomes(order_id, 'completed: accepted');
    expect(await moneySummaryOf(order)).toBe(`${MOVED[kind]}: ${kind} completed`);
    expect((await ledger(order)).slice(1)).toEqual([`${kind} 200 approved`]);
    await untilClosed(order_id);
  };
  const tell = ({ order_id }: Asked) => handleOf(order_id).signal(processorAnswered);
  /** What is left of an authorization is voided: no later look may find it. */
  const finish = ({ kind, order }: Asked) => (kind === 'refund' ? undefined : order.follow('void'));
  const all = async (asked: Asked[], what: (one: Asked) => unknown) => void (await Promise.all(asked.map(what)));

  // The first, as time is to pass: nothing that another test left may be under way.
  test('an order that was paid behind its workflow’s back closes its capture window on time', async () => {
    const order = await paidBehindItsBack();
    await look();
    await closesOnTime(order);
  });

  test('captures, voids and refunds that were written, and whose workflows were never started, are carried out once', async () => {
    const asked = await eachKind(async (kind, order) => {
      const { id: order_id, project_id: _, ...follow_up } = followUpOf(order.id, kind, { amount: 200 });
      await insertFollowUp(world.database.db, {
        ...follow_up,
        id: order_id,
        transaction_id: transactionId(order_id, 1),
        now: await world.now(),
      });
      return order_id;
    });
    await look();
    await all(asked, isCarriedOutOnce);
    await look();
    await all(asked, async ({ kind, order }) =>
      expect((await ledger(order)).filter((entry) => entry.startsWith(`${kind} 200`))).toHaveLength(1),
    );
    await all(asked, finish);
  });

  test('captures, voids and refunds whose workflows were lost while their outcome was open are asked for, and done once', async () => {
    const asked = await eachKind(async (kind, order) => {
      const input = followUpOf(order.id, kind, { amount: 200 });
      // It happened, but nobody was told; nor is, after two seconds, who asks how it stands.
      await merchant.addFault({ kind: 'lost_answer', operation: kind, order_id: order.id });
      await merchant.addFault({
        kind: 'outage',
        operation: 'ask',
        idempotency_key: followUpIdempotencyKey(transactionIdOf(order.id, 1), kind, input.id),
      });
      if (kind === 'refund') await startFollowUp(world, input);
      else await order.follow(kind, 200, input);
      expect(await statusesOfRow(world, input.id)).toBe('processing: processing');
      await handleOf(input.id).terminate('lost');
      return input.id;
    });
    await merchant.removeFaults();
    await look();
    await all(asked, tell);
    await all(asked, isCarriedOutOnce);
    await all(asked, finish);
  });

  /** Charges the order's first attempt while its workflow does not know of it. */
  async function chargeBehindItsBack(order: TestOrder, terms: object, processor = world.processor): Promise<void> {
    const activities = createActivities({
      db: world.database.db,
      processor,
      public_url: 'http://pay.test',
    } as ActivityServices);
    const transaction = {
      id: transactionIdOf(order.id, 1),
      attempt: 1,
      payment_method: 'credit-card',
      payment_method_details: { vault_token: await vaultToken(world, CARDS.approved.number) },
      expiration_period: 'PT30M',
      period: 20 * MINUTE,
      ...terms,
    };
    await activities.chargeAttempt({
      request: aRequest(),
      project_id: PROJECT.id,
      is_test: true,
      transaction,
      order: await loadOrderSnapshot(world.database.db, order.id),
      now: await world.now(),
    });
  }

  /**
   * An order that waits to be paid, of which the record alone knows that it was: ten minutes from now its window ends.
   */
  async function paidBehindItsBack(): Promise<TestOrder> {
    const terms = { capture_mode: 'manual', capture_period: 'PT10M' } as const;
    const order = await createAnOrder(world, { transaction_period: 20 * MINUTE, ...terms });
    expect(await statusesOfOrder(order)).toBe('new: new');
    await chargeBehindItsBack(order, terms);
    expect(await statusesOfOrder(order)).toBe('completed: accepted');
    return order;
  }

  async function closesOnTime(order: TestOrder): Promise<void> {
    const end = Date.parse((await order.view()).transactions[0]?.capture_ends_at ?? '');
    await pass(end - (await world.now()) - 30_000);
    expect([await statusesOfOrder(order), await moneySummaryOf(order)]).toEqual(['completed: accepted', 'nothing']);
    await pass(31_000);
    await until('the rest was released', async () => (await moneySummaryOf(order)) === '500 voided: void completed');
    const { follow_ups } = await order.view();
    const [released] = await queryRows<{ created: string }>(
      world.database.db,
      'select created from orders where id = :id',
      {
        id: follow_ups[0]!.id,
      },
    );
    expect(Date.parse(released!.created) - end).toBeLessThan(60_000);
    expect(await ledger(order)).toEqual(['authorize 500 approved', 'void 500 approved']);
    await untilClosed(order.id);
  }

  test('rules 10.13: an order that was paid behind its workflow’s back ends when the processor notifies', async () => {
    const order = await createAnOrder(world);
    await chargeBehindItsBack(order, {});
    expect([await statusesOfOrder(order), (await runOf(order.id)).status]).toEqual(['completed: accepted', 'RUNNING']);
    await handleOf(order.id).signal(processorAnswered);
    await untilClosed(order.id);
  });

  test('rules 10.13: an authorization whose workflow runs gets no event; one that was lost is started again', async () => {
    const [healthy, lost] = [await authorized(), await authorized()];
    await handleOf(lost.id).terminate('lost');
    const before = await runOf(healthy.id);
    await look();
    expect(await runOf(healthy.id)).toEqual(before);
    await until('it runs again', async () => (await runOf(lost.id)).status === 'RUNNING');
    for (const order of [healthy, lost]) await order.follow('void');
  });

  test.each([
    ['that came with the order', { transaction_period: 20 * MINUTE }],
    ['that the customer added', {}],
  ])(
    'an attempt %s, charged on the hosted page when worker and server died, has its outcome long before the order expires',
    async (_title, options) => {
      const order = await createAnOrder(world, options);
      const killed = chargeBehindItsBack(
        order,
        {},
        {
          ...world.processor,
          async execute(...charge) {
            await world.processor.execute(...charge);
            throw new Error('killed');
          },
        },
      );
      await expect(killed).rejects.toThrow('killed');
      expect(await statusesOfOrder(order)).toBe('new: new');
      await look();
      await handleOf(order.id).signal(processorAnswered);
      await becomes(order.id, 'completed: accepted');
      expect(await ledger(order)).toEqual(['sale 500 approved']);
      await untilClosed(order.id);
    },
  );

  test('an order that was charged, and whose workflow was never started, is brought to its end', async () => {
    const now = await world.now();
    const order = anOrder(BY_TOKEN);
    const details = { vault_token: await vaultToken(world, CARDS.approved.number) };
    await insertOrder(world.database.db, order, aTransaction(order.id, { payment_method_details: details }), {
      created: now,
      expires_at: now + 30 * MINUTE,
      transaction_expires_at: now + 30 * MINUTE,
      request: aRequest(),
    });
    await look();
    await handleOf(order.id).signal(processorAnswered);
    await becomes(order.id, 'completed: accepted');
    expect(await merchant.ledger(order.id)).toEqual([
      expect.objectContaining({ operation: 'sale', requests: 1, result: 'approved' }),
    ]);
  });

  test('a webhook that was written, and whose workflow was never started, is delivered once', async () => {
    const now = await world.now();
    const order = anOrder();
    const record = await insertOrder(world.database.db, order, undefined, {
      created: now,
      expires_at: now + MINUTE,
      transaction_expires_at: now + MINUTE,
      request: aRequest(),
    });
    await moveOrder(world.database.db, record, { ended: 'cancelled' }, { source: 'merchant', now });
    const mine = () => receiver.received.filter(({ body }) => body.includes(order.id));
    await look();
    await until('it came', () => mine().length === 1);
    expect(mine()[0]!.headers['webhook-id']).toBe(deliveryWorkflowId({ order_id: order.id, n: 1 }));
    await until(
      'its workflow is over',
      async () =>
        (await world.env.client.workflow.getHandle(deliveryWorkflowId({ order_id: order.id, n: 1 })).describe()).status
          .name === 'COMPLETED',
    );
    await look();
    expect(mine()).toHaveLength(1);
  });

  test('a webhook that was resumed, and whose workflow was not told, goes on', async () => {
    receiver.answer((response) => response.writeHead(500).end());
    const order = await authorized();
    const id = { order_id: order.id, n: 1 };
    const { db } = world.database;
    const { deliveries } = createWorkflowClients({ client: world.env.client, db });
    await until('it failed', async () => (await db('webhook_attempts').where(id)).length === 1);
    await requestOfOperator({ db, deliveries }, id, 'pauseDelivery');
    const delivery = world.env.client.workflow.getHandle(deliveryWorkflowId(id));
    await until('its workflow waits', async () => {
      const { events } = await delivery.fetchHistory();
      return events!.some(({ timerCanceledEventAttributes: cancelled }) => cancelled);
    });
    receiver.answer((response) => response.writeHead(200).end());
    await requestOfOperator({ db, deliveries: UNREACHABLE }, id, 'resumeDelivery');
    const due = { next_attempt_at: new Date(await world.now()) };
    await db('webhook_deliveries').where(id).update(due);
    await look();
    await until('it is delivered', async () => (await delivery.describe()).status.name === 'COMPLETED');
  });

  test('an approval after the end whose reversal was lost while it waited is given back', async () => {
    const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
    await order.cancel();
    const reversal = reversalOrderId(transactionIdOf(order.id, 1));
    await until('the reversal waits', async () => (await runOf(reversal)).status === 'RUNNING');
    await handleOf(reversal).terminate('lost');
    await answerAtIssuer(order, { code: '0101' });
    await recovery.recover((await world.now()) + 14 * MINUTE);
    expect((await runOf(reversal)).status).toBe('TERMINATED');
    await recovery.recover((await world.now()) + 15 * MINUTE + SETTLED);
    await becomes(reversal, 'completed: accepted');
    expect(await ledger(order)).toEqual(['sale 500 approved', 'reversal 500 approved']);
    expect(await queryRows(world.database.db, 'select * from late_approval_watches')).toEqual([]);
  });

  test('rules 10.9: a chargeback that was announced, and whose workflow was lost, is recorded', async () => {
    const order = await createAnOrder(world, { card_number: CARDS.approved.number });
    const original_transaction_id = transactionIdOf(order.id, 1);
    const answer = await postControl(stack(), 'chargebacks', { transaction_id: original_transaction_id });
    const { idempotency_key: processor_key } = (await answer.json()) as { idempotency_key: string };
    const order_id = processorOrderId(original_transaction_id, processor_key);
    const of = { original_order_id: order.id, original_transaction_id };
    const { db } = world.database;
    await announceOperation(db, { order_id, kind: 'chargeback', processor_key, ...of }, await world.now());
    await look();
    await becomes(order_id, 'completed: accepted');
    expect(await queryRows(db, 'select * from announced_operations')).toEqual([]);
  });

  test('an order whose workflow was lost at the issuer expires with its attempt, which ends before it', async () => {
    await recovery.recover(await world.now());
    const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
    expect(await statusesOfOrder(order)).toBe('processing: pending');
    await handleOf(order.id).terminate('lost');
    const { db } = world.database;
    const now = await world.now();
    // Both checks of its last change are over, and its own end is far away.
    await db('orders')
      .where({ id: order.id })
      .update({ modified: new Date(now - 10 * MINUTE) });
    await db('transactions')
      .where({ order_id: order.id })
      .update({ expires_at: new Date(now) });
    await look();
    await becomes(order.id, 'expired: expired');
  });
});

describe('the calls that it makes to Temporal', () => {
  const database = setUp(() => createTestDatabase({ webhook_url: 'https://shop.example/hook' }));
  const called: string[] = [];
  beforeEach(async () => {
    called.splice(0);
    await database.db.raw('truncate orders, payment_links, webhook_events, request_claims, attentions cascade');
    await database.db.raw('truncate restores, leases, recovery_progress');
    database.forget();
  });

  /**
   * A Temporal client that records its calls; `fails`: how a call fails, `unavailable`: whether all do, `running`: the
   * status that every order's workflow shows, absent if it has none.
   */
  const temporal = ({
    fails = () => undefined,
    unavailable = false,
    running,
  }: {
    fails?: (what: string) => Error | undefined | Promise<undefined>;
    unavailable?: boolean;
    running?: string;
  } = {}) => {
    const describe = async (workflowId: string) => {
      await call('describe', { workflowId });
      if (running === undefined) throw new WorkflowNotFoundError('not found', workflowId, undefined);
      const typedSearchAttributes = new TypedSearchAttributes([{ key: ORDER_STATUS, value: running }]);
      return { status: { name: 'RUNNING' }, typedSearchAttributes };
    };
    const call = async (verb: string, { workflowId }: { workflowId: string }) => {
      const what = `${verb} ${workflowId}`;
      called.push(what);
      const error = await fails(what);
      if (error) throw error;
      if (unavailable) throw new Error('unavailable');
    };
    return {
      options: { namespace: 'default' },
      withDeadline: (_deadline: number, work: () => Promise<unknown>) => work(),
      workflow: {
        start: (_name: string, options: { workflowId: string }) => call('start', options),
        signalWithStart: (_name: string, options: { workflowId: string }) => call('signal', options),
        getHandle: (workflowId: string) => ({ describe: () => describe(workflowId) }),
      },
      workflowService: { describeNamespace: async () => unavailable && Promise.reject(new Error('unavailable')) },
    } as unknown as Client;
  };
  /** A recovery of its own, as a worker has it. */
  const aRecovery = (client = temporal(), db = database.db) => recoveryOf(db, client);
  const pending = async () => {
    const order = await aStoredOrder(database.db);
    return await moveOrder(
      database.db,
      order,
      { transaction_id: order.transactions[0]!.id, to: 'pending' },
      { source: 'processor', now: NOW },
    );
  };
  /** One of each: a refund, an order that holds money, a webhook that was not sent; the calls that continue them. */
  async function leftBehind(): Promise<string[]> {
    const refund = aFollowUp(await anAcceptedPayment(database.db), { kind: 'refund', amount: 40 });
    await insertFollowUp(database.db, refund);
    const { id: order_id } = await anAcceptedPayment(database.db, { mode: 'manual' });
    const paid = (await database
      .db('webhook_deliveries')
      .orderBy('created')
      .orderBy('order_id')
      .select('order_id')) as { order_id: string }[];
    return [
      `start ${orderWorkflowId(refund.id)}`,
      `describe ${orderWorkflowId(order_id)}`,
      `signal ${orderWorkflowId(order_id)}`,
      ...paid.map((one) => `signal ${deliveryWorkflowId({ order_id: one.order_id, n: 1 })}`),
    ].toSorted();
  }

  test('all that was left behind, a minute after its last change', async () => {
    const expected = await leftBehind();
    const recovery = aRecovery();
    await recovery.recover(NOW + MINUTE);
    expect(called).toEqual([]);
    await recovery.recover(NOW + SETTLED);
    expect(called.toSorted()).toEqual(expected);
  });

  test('an order whose creation may still be running is not signalled: its workflow is only started if it is lost', async () => {
    const { id } = await aStoredOrder(database.db, BY_TOKEN);
    await aRecovery().recover(NOW + SETTLED);
    expect(called).toEqual([`start ${orderWorkflowId(id)}`]);
  });

  test('each round only what fell due since the last one, also in a worker that starts later', async () => {
    const [one, other] = [await pending(), await pending()];
    await database.db('webhook_deliveries').delete();
    const first = aRecovery();
    await first.recover(NOW + SETTLED);
    expect(called.splice(0).toSorted()).toEqual(
      [one, other].map(({ id }) => `signal ${orderWorkflowId(id)}`).toSorted(),
    );
    await first.stop();
    const later = aRecovery();
    await later.recover(NOW + SETTLED + MINUTE);
    expect(called).toEqual([]);
    await database
      .db('orders')
      .where({ id: other.id })
      .update({ modified: new Date(NOW + MINUTE + 1) });
    await later.recover(NOW + SETTLED + 2 * MINUTE);
    expect(called.splice(0)).toEqual([`signal ${orderWorkflowId(other.id)}`]);
    // Five minutes after its change it is told once more: the first signal may be lost.
    await later.recover(NOW + SETTLED + 5 * MINUTE);
    expect(called).toEqual([`signal ${orderWorkflowId(one.id)}`]);
  });

  const DAY = 24 * 60 * MINUTE;

  test('a clock that was ahead and is corrected: what falls due from then on is checked', async () => {
    await aRecovery().recover(NOW + DAY);
    await aRecovery().recover(NOW);
    const { id } = await pending();
    await database.db('webhook_deliveries').delete();
    await aRecovery().recover(NOW + SETTLED);
    expect(called).toEqual([`signal ${orderWorkflowId(id)}`]);
  });

  test('the same in the middle of a round: it begins anew', async () => {
    const [one, other] = [await pending(), await pending()];
    await database.db('webhook_deliveries').delete();
    await database
      .db('orders')
      .where({ id: other.id })
      .update({ modified: new Date(NOW + MINUTE) });
    const away = aRecovery(temporal({ unavailable: true }));
    await away.recover(NOW + DAY);
    await away.stop();
    called.splice(0);
    const recovery = aRecovery();
    await recovery.recover(NOW + SETTLED);
    expect(called.splice(0)).toEqual([`signal ${orderWorkflowId(one.id)}`]);
    await recovery.recover(NOW + SETTLED + MINUTE);
    expect(called).toEqual([`signal ${orderWorkflowId(other.id)}`]);
  });

  test('a payment link that was tried reads its record', async () => {
    const now = new Date(NOW).toISOString();
    const [link] = await queryRows<{ id: string }>(
      database.db,
      `insert into payment_links (id, project_id, merchant_order_id, amount, currency, expiration_period, expires_at, status, attempts, created, modified)
       values (gen_random_uuid(), :project_id, 'A-1', 1, 'EUR', 'P1D', :now::timestamptz + interval '1 day', 'processing', 1, :now, :now) returning id`,
      { project_id: PROJECT.id, now },
    );
    await aRecovery().recover(NOW + SETTLED);
    expect(called).toEqual([`signal ${paymentLinkWorkflowId(link!.id)}`]);
  });

  test.each([
    ['refund', /^start order:/],
    ['order', /^signal order/],
    ['webhook', /^signal webhook/],
  ])('one %s that cannot be continued stops no other, and is left until its next check', async (_what, which) => {
    const expected = await leftBehind();
    const failing = expected.find((what) => which.test(what))!;
    const recovery = aRecovery(temporal({ fails: (what) => (what === failing ? new Error('broken') : undefined) }));
    await recovery.recover(NOW + SETTLED);
    expect(called.toSorted()).toEqual(expected);
    called.splice(0);
    await recovery.recover(NOW + SETTLED + MINUTE);
    expect(called).toEqual([]);
    await recovery.recover(NOW + SETTLED + 5 * MINUTE);
    expect(called.map((what) => what.split(' ')[1])).toContain(failing.split(' ')[1]);
  });

  test('a check that Temporal did not answer is made again at once if it answers by then', async () => {
    const { id } = await pending();
    await database.db('webhook_deliveries').delete();
    const signal = `signal ${orderWorkflowId(id)}`;
    const silence = [new ServiceError('ServiceUnavailable', 'No answer.')];
    const recovery = aRecovery(temporal({ fails: () => silence.pop() }));
    await recovery.recover(NOW + SETTLED);
    expect(called).toEqual([signal, signal]);
    await recovery.stop();
  });

  test('rules 29.1: old rows go also while the attentions cannot be brought up to date', async () => {
    const { db } = database;
    await db('request_claims').insert({ request_id: randomUUID(), is_withdrawn: false, claimed: new Date(0) });
    await db.raw('alter table attentions rename to attentions_away');
    try {
      await aRecovery().recover(NOW);
    } finally {
      await db.raw('alter table attentions_away rename to attentions');
    }
    expect(await queryRows(db, 'select * from request_claims where claimed < now()')).toEqual([]);
  });

  test('rules 29.1: a deletion that takes the whole time and fails comes after the others in the next round', async () => {
    const { db } = database;
    const { id: order_id } = await aStoredOrder(db);
    const events = () => db('webhook_events').where({ order_id, created: new Date(0) });
    await events().insert({ project_id: PROJECT.id, order_id, created: new Date(0) });
    const now = performance.now.bind(performance);
    let late = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + late);
    db.once('query-error', () => (late = MINUTE));
    await db.raw('alter table request_claims rename to request_claims_away');
    try {
      const recovery = aRecovery();
      await recovery.recover(NOW);
      expect(await events()).toHaveLength(1);
      await recovery.recover(NOW);
    } finally {
      await db.raw('alter table request_claims_away rename to request_claims');
      clock.mockRestore();
    }
    expect(await events()).toEqual([]);
  });

  test('one kind of rows that is locked, or takes too long, does not hold up the others', async () => {
    const expected = await leftBehind();
    const session_sql = 'set statement_timeout = 8000; set lock_timeout = 1000';
    const impatient = connectDatabase(database.url, { pool_max: 4, quiet: true, session_sql });
    const holder = await database.db.transaction();
    await holder.raw('lock table announced_operations in access exclusive mode');
    try {
      await aRecovery(temporal(), impatient).recover(NOW + SETTLED);
    } finally {
      await holder.rollback();
      await impatient.destroy();
    }
    expect(called.toSorted()).toEqual(expected);
  });

  test('a Temporal that is unavailable: the round ends at the first call, and the next one goes on there', async () => {
    const expected = await leftBehind();
    const away = aRecovery(temporal({ unavailable: true }));
    await away.recover(NOW + SETTLED);
    expect(called).toHaveLength(1);
    await away.stop();
    called.splice(0);
    await aRecovery().recover(NOW + SETTLED + MINUTE);
    expect(called.toSorted()).toEqual(expected);
  });

  test('a round that had to stop, as Temporal does not answer, is logged and counted as failed', async () => {
    const { db } = database;
    const now = Date.now() - 5 * MINUTE;
    await insertFollowUp(db, aFollowUp(await anAcceptedPayment(db), { kind: 'refund', amount: 40, now }));
    const [logged, results]: string[][] = [[], []];
    const note = (_fields: object, text: string) => void logged!.push(text);
    recordWith({
      count: (name, { result }) => void (name === 'payments_recovery_rounds_total' && results!.push(result!)),
      measure: () => undefined,
    });
    const noting = { info: note, warn: note, error: note } as unknown as Logger;
    const client = temporal({ unavailable: true });
    const workflows = createWorkflowClients({ client, db });
    const recovery = new Recovery({ db, client, workflows, log: noting });
    recovery.start();
    await until('its first round has ended', () => results!.length > 0);
    await recovery.stop();
    expect([logged, results]).toEqual([['recovery round failed'], ['failed']]);
  });

  test('more than a page, and a worker that stops in the middle: each order, and few twice', async () => {
    await queryRows(
      database.db,
      `with o as (
         insert into orders (id, clock_id, project_id, currency, amount, status, attempts_max, charged_by, expiration_period, expires_at, created, modified)
         select gen_random_uuid(), gen_random_uuid(), :project_id, 'EUR', 1, 'processing', 5, 'customer', 'PT30M', :later, :now, :now::timestamptz + n * interval '1 microsecond'
         from generate_series(1, 1600) n returning id
       )
       insert into transactions (id, order_id, attempt, amount, currency, payment_method, method_chosen_by, credit_debit, status, created, modified)
       select gen_random_uuid(), id, 1, 1, 'EUR', 'credit-card', 'customer', 'credit', 'pending', :now, :now from o`,
      {
        project_id: PROJECT.id,
        now: new Date(NOW).toISOString(),
        later: new Date(NOW + 30 * MINUTE).toISOString(),
      },
    );
    const stops = aRecovery(
      temporal({ fails: () => (called.length === 1_300 ? void stops.stop() : undefined) as undefined }),
    );
    await stops.recover(NOW + SETTLED + 10);
    const first = called.length;
    expect([first >= 1_300, first < 1_300 + CHECKS_AT_ONCE]).toEqual([true, true]);
    await aRecovery().recover(NOW + SETTLED + MINUTE);
    // Of what was under way when it stopped, some may be checked again.
    expect([new Set(called).size, called.length < 1_600 + CHECKS_AT_ONCE]).toEqual([1_600, true]);
  });

  test('of two workers one does the work; the other goes on when the first has stopped', async () => {
    const expected = await leftBehind();
    await database.db('orders').update({ modified: new Date(Date.now() - 2 * MINUTE) });
    await database.db('transactions').update({ modified: new Date(Date.now() - 2 * MINUTE) });
    await database.db('webhook_deliveries').update({ next_attempt_at: new Date(Date.now() - 2 * MINUTE) });
    const other = { name: 'recovery', holder: 'another worker' };
    expect(await takeLease(database.db, { ...other, lasts_ms: MINUTE })).toBeDefined();
    const waiting = aRecovery();
    waiting.start();
    await until('it asked for the lease', () => database.statements.some((sql) => sql.includes('insert into leases')));
    await waiting.stop();
    expect(called).toEqual([]);
    await releaseLease(database.db, other);
    const recovery = aRecovery();
    recovery.start();
    await until('it did the work', () => called.length === expected.length);
    await recovery.stop();
    expect(called.toSorted()).toEqual(expected);
    expect(await queryRows(database.db, 'select * from leases')).toEqual([]);
  });

  test('rules 10.13: so many checks are made at once; stop waits for those under way, and begins no other', async () => {
    for (let n = 0; n < CHECKS_AT_ONCE + 3; n += 1) await pending();
    let release = () => {};
    const held = new Promise<undefined>((resolve) => (release = () => resolve(undefined)));
    const recovery = aRecovery(temporal({ fails: () => held }));
    await database.db('orders').update({ modified: new Date(Date.now() - 2 * MINUTE) });
    recovery.start();
    await until('it calls', () => called.length === CHECKS_AT_ONCE);
    const stopped = recovery.stop();
    release();
    await stopped;
    expect(new Set(called).size).toBe(CHECKS_AT_ONCE);
  });

  test('a check that fails with an error stops the others; the next round begins before it', async () => {
    for (let n = 0; n < CHECKS_AT_ONCE + 3; n += 1) await pending();
    await database.db('webhook_deliveries').delete();
    const away = aRecovery(temporal({ unavailable: true }));
    await away.recover(NOW + SETTLED);
    expect(called).toHaveLength(CHECKS_AT_ONCE);
    await away.stop();
    called.splice(0);
    await aRecovery().recover(NOW + SETTLED + MINUTE);
    expect(new Set(called).size).toBe(CHECKS_AT_ONCE + 3);
  });

  test('rules 10.13: an authorization whose workflow knows it costs no signal', async () => {
    const payment = await anAcceptedPayment(database.db, { mode: 'manual' });
    const { id } = payment;
    await database.db('webhook_deliveries').delete();
    const [asked, told] = [`describe ${orderWorkflowId(id)}`, `signal ${orderWorkflowId(id)}`];
    await aRecovery(temporal({ running: 'completed' })).recover(NOW + SETTLED);
    expect(called.splice(0)).toEqual([asked]);
    const again = async (running: string) => {
      await database.db('recovery_progress').delete();
      await database.db('leases').delete();
      await aRecovery(temporal({ running })).recover(NOW + SETTLED);
      return called.splice(0);
    };
    // Its workflow has not heard of the payment.
    expect(await again('new')).toEqual([asked, told]);
    // A capture has changed it since.
    await insertFollowUp(database.db, aFollowUp(payment, { kind: 'capture', amount: 40 }));
    expect(await again('completed')).toContain(told);
  });

  test('rules 22.7: everything at once: what is due is told, what is due later is only started, no round is changed', async () => {
    const tried = await pending();
    const unpaid = await aStoredOrder(database.db);
    await database.db('webhook_deliveries').delete();
    const [due, waiting] = [await aDelivery(database.db), await aDelivery(database.db)];
    const later = new Date(NOW + 30 * MINUTE);
    await database.db('webhook_deliveries').where({ order_id: waiting.order_id }).update({ next_attempt_at: later });
    const link = randomUUID();
    const of_link = { created: NOW, expires_at: NOW + 30 * MINUTE, request: aRequest() };
    const { id: project_id } = PROJECT;
    const fields = { project_id, merchant_order_id: 'L', amount: 500, currency: 'EUR', expiration_period: 'PT30M' };
    await insertPaymentLink(database.db, { ...fields, id: link }, of_link);
    const client = temporal();
    const workflows = createWorkflowClients({ client, db: database.db });
    const counts = await recoverEverything({ db: database.db, client, workflows, log }, NOW + SETTLED);
    const [tried_id, unpaid_id] = [orderWorkflowId(tried.id), orderWorkflowId(unpaid.id)];
    // The order that was tried is checked for its attempt, and for its two deadlines.
    expect([...new Set(called)].toSorted()).toEqual(
      [
        `signal ${tried_id}`,
        `start ${tried_id}`,
        `start ${unpaid_id}`,
        `signal ${deliveryWorkflowId(due)}`,
        `start ${deliveryWorkflowId(waiting)}`,
        `start ${paymentLinkWorkflowId(link)}`,
      ].toSorted(),
    );
    expect(counts).toMatchObject({
      attempts: { checked: 1, restarted: 0, failed: 0 },
      expired_orders: { checked: 2, restarted: 0, failed: 0 },
    });
    expect(await queryRows(database.db, 'select * from recovery_progress')).toEqual([]);
    const away = { db: database.db, client: temporal({ unavailable: true }), workflows, log };
    const failing = createWorkflowClients({ client: away.client, db: database.db });
    await expect(recoverEverything({ ...away, workflows: failing }, NOW + SETTLED)).rejects.toThrow(
      'Temporal does not answer',
    );
    // Rules 28.1: a restore has begun meanwhile.
    called.splice(0);
    await database.db.transaction((trx) => beginRestore(trx, randomUUID(), NOW, new Date(NOW)));
    await expect(recoverEverything({ db: database.db, client, workflows, log }, NOW + SETTLED)).rejects.toMatchObject({
      error: 'Conflict',
    });
    await database.db('restores').delete();
    expect(called).toEqual([]);
  });
});

describe('a Temporal that never answers', () => {
  const database = setUp(() => createTestDatabase());
  const silent = setUp(aSilentServer);
  const client = setUp(
    () => connectTemporal({ address: silent.address, namespace: 'default', payload_keys: undefined, log }),
    (one) => one.connection.close(),
  );

  test('the round ends at the first call, whatever is left to be done; stop returns', async () => {
    for (let n = 0; n < 3; n += 1) {
      await insertFollowUp(
        database.db,
        aFollowUp(await anAcceptedPayment(database.db), { kind: 'refund', amount: 40, now: Date.now() - 5 * MINUTE }),
      );
    }
    await database.db('recovery_progress').delete();
    const recovery = recoveryOf(database.db, client);
    database.forget();
    recovery.start();
    await until('it works', () => database.statements.some((sql) => sql.includes('recovery_progress')));
    // It would hang here, and jest with it.
    await recovery.stop();
    expect(await findProgress(database.db)).toMatchObject({ follow_ups: { checked_until: 0, position: null } });
  });

  test('rules 27.10: a round deletes receiver checks that are 30 days old', async () => {
    const now = Date.now();
    const day_ms = 24 * 60 * MINUTE;
    for (const [n, created] of [now - 30 * day_ms - MINUTE, now - 30 * day_ms + MINUTE].entries()) {
      await queryRows(
        database.db,
        `insert into receiver_checks (id, project_id, webhook_url, reason, created, completed)
         values (gen_random_uuid(), :project, :url, 'x', to_timestamp(:created / 1000.0), now())`,
        { project: PROJECT.id, url: String(n), created },
      );
    }
    await recoveryOf(database.db, client).recover(now);
    expect(await queryRows(database.db, 'select webhook_url from receiver_checks')).toEqual([{ webhook_url: '1' }]);
  });

  test('rules 13.20: a round deletes webhook events that are seven days old', async () => {
    const now = Date.now();
    const day_ms = 24 * 60 * MINUTE;
    const order_id = randomUUID();
    for (const [n, created] of [now - 7 * day_ms - MINUTE, now - 7 * day_ms + MINUTE].entries()) {
      await queryRows(
        database.db,
        `insert into webhook_events (project_id, order_id, n, created)
         values (:project, :order_id, :n, to_timestamp(:created / 1000.0))`,
        { project: PROJECT.id, order_id, n, created },
      );
    }
    await recoveryOf(database.db, client).recover(now);
    const left = 'select n from webhook_events where order_id = :order_id';
    expect(await queryRows(database.db, left, { order_id })).toEqual([{ n: 1 }]);
  });

  test('rules 25.5: a round deletes logged requests that are 30 days old', async () => {
    const now = Date.now();
    const day_ms = 24 * 60 * MINUTE;
    await queryRows(
      database.db,
      `insert into logged_requests (id, project_id, api_key_id, received, operation, method, path, duration_ms, is_repeat)
       select gen_random_uuid(), :project, 'x', to_timestamp(received / 1000.0), 'listOrders', 'GET', '/v1/orders/', n, false
       from unnest(:instants::bigint[]) with ordinality as t (received, n)`,
      { project: PROJECT.id, instants: [now - 30 * day_ms - MINUTE, now - 30 * day_ms + MINUTE, now] },
    );
    await recoveryOf(database.db, client).recover(now);
    expect(await queryRows(database.db, 'select duration_ms from logged_requests order by 1')).toEqual([
      { duration_ms: 2 },
      { duration_ms: 3 },
    ]);
  });
});
