import { WorkflowUpdateFailedError } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { insertWatch } from '../../src/db/orders/late-approvals';
import { beginAttempt } from '../../src/db/orders/insert-order';
import { moveOrder } from '../../src/db/orders/move-order';
import { loadOrderSnapshot } from '../../src/db/orders/order-snapshot';
import { beginAdvance, setClock } from '../../src/db/sandbox-clocks/sandbox-clocks';
import type { OrderSnapshot } from '../../src/domain/order-snapshot';
import { ServiceError } from '../../src/errors';
import { pollNowUpdate, processorAnswered } from '../../workflows/messages';
import { CARDS, MINUTE, PROJECT, aRequest, aTransaction, transactionIdOf } from '../support/domain';
import { untilLocked } from '../support/database';
import { Merchant } from '../support/merchant';
import { setUp } from '../support/set-up';
import { createWorkflowEnvironment } from '../support/temporal';
import { inTheLastSecond, sleepUntil, until } from '../support/waits';
import {
  answerAtIssuer,
  becomesDue,
  createAnOrder,
  statusesOfOrder,
  vaultToken,
  type TestOrder,
} from '../support/workflow-orders';

const world = setUp(() => createWorkflowEnvironment());
const merchant = new Merchant();
afterEach(() => merchant.removeFaults());

const refusalOf = (error: unknown) =>
  error instanceof ServiceError
    ? error.error
    : error instanceof WorkflowUpdateFailedError
      ? (error.cause as { type?: string }).type
      : String(error);

/** Lets workflow time pass; what is due meanwhile happens. */
const pass = (milliseconds: number) => world.env.sleep(milliseconds);

/** Waits in real time, while workflow time stands still: for what needs no timer but an activity. */
const becomes = (order: TestOrder, expected: string) =>
  until(`the order becomes ${expected}`, async () => (await statusesOfOrder(order)) === expected);

const endOf = async (order: TestOrder) => Date.parse((await order.view()).expires_at ?? '');

describe('a payment happens once', () => {
  test('the same attempt again is the same payment, whatever the card', async () => {
    const order = await createAnOrder(world);
    await Promise.all([order.pay(CARDS.approved.number, 1), order.pay(CARDS.approved_mastercard.number, 1)]);
    expect(await statusesOfOrder(order)).toBe('completed: accepted');
  });

  test('the next attempt only when the last one is error', async () => {
    const order = await createAnOrder(world);
    await expect(order.pay(CARDS.approved.number, 2).catch(refusalOf)).resolves.toBe('TransactionAlreadyStarted');
    expect(await statusesOfOrder(order)).toBe('new:');
    await order.pay(CARDS.challenge.number, 1);
    await expect(order.pay(CARDS.approved.number, 2).catch(refusalOf)).resolves.toBe('TransactionAlreadyStarted');
    await answerAtIssuer(order, { code: '3333' });
    await order.handle.signal(processorAnswered);
    await becomes(order, 'processing: error');
    // What was refused before is decided anew.
    await order.pay(CARDS.approved.number, 2);
    expect(await statusesOfOrder(order)).toBe('completed: error accepted');
    // The form sent again, after the end of its workflow too.
    await order.pay(CARDS.approved.number, 2);
    expect(await order.handle.result()).toBe('completed');
    await order.pay(CARDS.approved.number, 2);
    expect(await statusesOfOrder(order)).toBe('completed: error accepted');
  });
});

test('rules 10.3: the outcome of a further attempt is polled as often as that of the first', async () => {
  const order = await createAnOrder(world, { input: { period: 24 * 60 * MINUTE } });
  await merchant.addFault({ kind: 'outage', operation: 'ask', transaction_id: transactionIdOf(order.id, 1) });
  await order.pay(CARDS.processing_declined.number, 1);
  // So long that the first is polled every ten minutes.
  await pass(60 * MINUTE);
  await merchant.removeFaults();
  await becomesDue(order);
  await pass(11 * MINUTE);
  await becomes(order, 'processing: error');
  await order.pay(CARDS.processing_approved.number, 2);
  expect(await statusesOfOrder(order)).toBe('see-transactions: error processing');
  await becomesDue(order, 2);
  await pass(MINUTE);
  expect(await statusesOfOrder(order)).toBe('completed: error accepted');
});

describe('rules 10.13: the record has an outcome of which the workflow knows nothing, as Temporal lost the request', () => {
  /** Declines the last attempt in the record alone. */
  async function decline(order: OrderSnapshot): Promise<void> {
    const { id: transaction_id } = order.transactions.at(-1)!;
    await moveOrder(
      world.database.db,
      order,
      { transaction_id, to: 'error' },
      { source: 'processor', now: await world.now() },
    );
  }

  test('the next attempt is paid', async () => {
    const { db } = world.database;
    const order = await createAnOrder(world);
    const times = { created: await world.now(), expires_at: await endOf(order), request: aRequest() };
    await decline(await beginAttempt(db, await loadOrderSnapshot(db, order.id), aTransaction(order.id), times));
    await order.pay(CARDS.approved.number, 2);
    expect(await statusesOfOrder(order)).toBe('completed: error accepted');
  });

  test('the order is cancelled', async () => {
    const order = await createAnOrder(world);
    await order.pay(CARDS.processing_approved.number);
    expect(await statusesOfOrder(order)).toBe('processing: processing');
    await decline(await loadOrderSnapshot(world.database.db, order.id));
    await order.cancel();
    expect(await statusesOfOrder(order)).toBe('cancelled: error');
  });
});

describe("Temporal's own cancellation, a button of its Web UI, abandons no order", () => {
  test('it can be paid afterwards', async () => {
    const order = await createAnOrder(world);
    await order.handle.cancel();
    await order.pay(CARDS.do_not_honor.number, 1);
    await order.pay(CARDS.approved.number, 2);
    expect(await order.handle.result()).toBe('completed');
    expect(await statusesOfOrder(order)).toBe('completed: error accepted');
  });

  test('it expires at its end', async () => {
    const order = await createAnOrder(world);
    await order.handle.cancel();
    expect(await order.handle.result()).toBe('expired');
    expect(await statusesOfOrder(order)).toBe('expired:');
  });
});

describe('expiry by durable timers', () => {
  test('one second before its end an order can be paid', async () => {
    const token = await vaultToken(world, CARDS.approved.number);
    const { subject: order } = await inTheLastSecond(world, {
      create: () => createAnOrder(world),
      end: endOf,
      act: (one) => one.pay(CARDS.approved.number, 1, token),
    });
    expect(await statusesOfOrder(order)).toBe('completed: accepted');
  });

  test.each([
    ['an order', {}, 'expired:'],
    ['a transaction', { transaction_period: 10 * MINUTE }, 'expired: expired'],
  ])('rules 7.1: exactly at its end %s cannot be paid any more', async (_what, options, expected) => {
    const order = await createAnOrder(world, options);
    const token = await vaultToken(world, CARDS.approved.number);
    const { transactions } = await order.view();
    const end = transactions[0] ? Date.parse(transactions[0].expires_at!) : await endOf(order);
    await sleepUntil(world, end);
    // Refused by the handler, or by Temporal as the workflow has ended meanwhile.
    await expect(order.pay(CARDS.approved.number, 1, token).catch(refusalOf)).resolves.toMatch(
      /TransactionAlreadyStarted|Conflict/,
    );
    expect(await order.handle.result()).toBe('expired');
    expect(await world.now()).toBeLessThan(end + MINUTE);
    expect(await statusesOfOrder(order)).toBe(expected);
  });
});

describe('3-D Secure', () => {
  test('expires at once when an answer shows that the clock was advanced past its end', async () => {
    const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
    const { db } = world.database;
    const now = await world.now();
    const advance = { advance_ms: 60 * MINUTE };
    await beginAdvance(db, { clock_id: order.id, project_id: PROJECT.id }, { request_id: uuidv7(), advance, now });
    await setClock(db, { clock_id: order.id, offset_ms: advance.advance_ms, now });
    await order.handle.executeUpdate(pollNowUpdate);
    await becomes(order, 'expired: expired');
  });

  test('rules 10.9: the processor is polled again soon after it did not answer the poll of a notification', async () => {
    const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
    await answerAtIssuer(order, { code: '0101' });
    const transaction_id = transactionIdOf(order.id, 1);
    const { hit } = await merchant.addFault({ operation: 'ask', transaction_id, kind: 'outage', times: 1 });
    await order.handle.signal(processorAnswered);
    await hit;
    await pass(MINUTE);
    await becomes(order, 'completed: accepted');
  });
});

describe('a late approval is reversed', () => {
  const given = async (order: TestOrder) =>
    (await order.view()).follow_ups.map(({ kind, status }) => `${kind} ${status}`);

  test('cancelled in the record alone, as when worker and server were killed, and passed at the issuer', async () => {
    const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
    const record = await loadOrderSnapshot(world.database.db, order.id);
    await moveOrder(world.database.db, record, { ended: 'cancelled' }, { source: 'merchant', now: await world.now() });
    await answerAtIssuer(order, { code: '0101' });
    await pass(6 * MINUTE);
    expect(await order.handle.result()).toBe('cancelled');
    await until('the reversal', async () => (await given(order)).includes('reversal completed'));
    expect(await statusesOfOrder(order)).toBe('cancelled: cancelled');
  });
});

describe('rules 10.18: a notification of an approval comes while the decline is being recorded', () => {
  test.each<[string, () => Promise<TestOrder>, string]>([
    ['of the only attempt', () => createAnOrder(world, { card_number: CARDS.challenge.number }), 'error: error'],
    [
      'of an attempt that another may follow',
      async () => {
        const order = await createAnOrder(world);
        await order.pay(CARDS.challenge.number, 1);
        return order;
      },
      'processing: error',
    ],
  ])('%s: the payment is given back', async (_title, begin, declined) => {
    const { db } = world.database;
    const order = await begin();
    const transaction_id = transactionIdOf(order.id, 1);
    await answerAtIssuer(order, { code: '3333' });
    const holder = await db.transaction();
    await holder.raw('lock table orders in share row exclusive mode');
    await order.handle.signal(processorAnswered);
    await untilLocked('the decline is being recorded', db);
    const approved = { result: 'approved', response_code: '00' } as const;
    await merchant.addFault({ kind: 'altered', operation: 'ask', transaction_id, answer: approved });
    await order.handle.signal(processorAnswered);
    await holder.rollback();
    await until('it is given back', async () =>
      (await order.view()).follow_ups.some(({ kind }) => kind === 'reversal'),
    );
    expect(await statusesOfOrder(order)).toBe(declined);
  });
});

test('a signal about the attempt under way is not taken for one about an earlier attempt that is watched', async () => {
  const order = await createAnOrder(world);
  await order.pay(CARDS.do_not_honor.number, 1);
  const now = await world.now();
  const watch = { poll_at: now + 20 * MINUTE, began: now };
  await insertWatch(world.database.db, transactionIdOf(order.id, 1), watch);
  await order.pay(CARDS.challenge.number, 2);
  const transaction_id = transactionIdOf(order.id, 2);
  const { hit } = await merchant.addFault({
    operation: 'ask',
    transaction_id,
    kind: 'latency',
    milliseconds: 1_000,
    times: 1,
  });
  await order.handle.signal(processorAnswered);
  await hit;
  await order.handle.signal(processorAnswered);
  await until('both signals are obeyed', async () => (await order.view()).transactions[1]!.polls === 2);
});

describe('while the database does not answer', () => {
  /**
   * Does the work while every statement about orders fails, until workflow time, which goes as fast as ours meanwhile,
   * is past `instant`.
   */
  async function duringOutage(instant: number, work: () => Promise<unknown>): Promise<void> {
    await world.database.db.raw('alter table orders rename to orders_away');
    const done = work();
    done.catch(() => undefined);
    try {
      await until('the time passes', async () => (await world.now()) > instant);
    } finally {
      await world.database.db.raw('alter table orders_away rename to orders');
    }
    await done;
  }

  test('rules 4.15 and 7.8: a payment that is tried again after the end of its order is not charged', async () => {
    const order = await createAnOrder(world, { input: { period: 8_000 } });
    const token = await vaultToken(world, CARDS.approved.number);
    // By then the pauses between two tries are timers of the workflow.
    const back_at = (await endOf(order)) + 1_000;
    await duringOutage(back_at, () => order.pay(CARDS.approved.number, 1, token));
    const [attempt] = (await order.view()).transactions;
    expect(attempt).toMatchObject({ status: 'new' });
    expect(Date.parse(attempt!.created)).toBeGreaterThanOrEqual(back_at);
    await pass(MINUTE);
    await becomes(order, 'expired: error');
    expect(await merchant.ledger(order.id)).toEqual([]);
  });
});
