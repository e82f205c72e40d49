import { WorkflowUpdateFailedError } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { insertWatch } from '../../src/db/orders/late-approvals';
import { beginAttempt } from '../../src/db/orders/insert-order';
import { moveOrder } from '../../src/db/orders/move-order';
import { loadOrderSnapshot } from '../../src/db/orders/order-snapshot';
import { beginAdvance, setClock } from '../../src/db/sandbox-clocks/sandbox-clocks';
import type { OrderSnapshot } from '../../src/domain/order-snapshot';
import { ServiceError } from '../../src/errors';
import { pollNowUpdate, processorAnswered, orderWorkflowId } from '../../workflows/messages';
import { insertFollowUp, recordFollowUpOutcome } from '../../src/db/orders/follow-ups';
import { closingOrderId, transactionId } from '../../src/ids';
import { CARDS, MINUTE, PROJECT, aRequest, aTransaction, transactionIdOf, type CardName } from '../support/domain';
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
  followUpOf,
  moneySummaryOf,
  statusesOfRow,
  type TestOrder,
} from '../support/workflow-orders';

const world = setUp(() => createWorkflowEnvironment());
const merchant = new Merchant();
afterEach(() => merchant.removeFaults());

const refusalOf = (error: unknown) => {
  if (error instanceof ServiceError) return error.error;
  const cause =
    error instanceof WorkflowUpdateFailedError
      ? (error.cause as { type?: string; cause?: { type?: string } })
      : undefined;
  return cause?.type ?? cause?.cause?.type ?? String(error);
};

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
    // By its record: the time of the server may pass on once the workflow has ended.
    expect(Date.parse((await order.view()).modified)).toBeLessThan(end + MINUTE);
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

/** What their orders live for after they are completed. All windows last an hour unless a test says otherwise. */
describe('authorizations', () => {
  const authorize = (
    capture_mode: 'manual' | 'delayed' = 'manual',
    card: CardName = 'approved',
    over: { amount?: number; capture_period?: string } = {},
  ) => createAnOrder(world, { card_number: CARDS[card].number, capture_mode, ...over });

  const windowEnd = async (order: TestOrder) => Date.parse((await order.view()).transactions[0]?.capture_ends_at ?? '');
  const isRunning = async ({ handle }: TestOrder) => (await handle.describe()).status.name === 'RUNNING';
  /** Everything that became of the payment: `completed: accepted; 300 captured: capture completed`. */
  const all = async (order: TestOrder) => `${await statusesOfOrder(order)}; ${await moneySummaryOf(order)}`;
  /** Waits in real time, while workflow time stands still. */
  const moneyBecomes = (order: TestOrder, expected: string) =>
    until(`the payment becomes ${expected}`, async () => (await all(order)) === expected);
  const ledger = async (order: TestOrder) =>
    (await merchant.ledger(order.id)).map(({ operation, amount, result }) => `${operation} ${amount} ${result}`);
  const untilClosed = (order: TestOrder) => until('its workflow is over', async () => !(await isRunning(order)));

  describe('while the window lasts', () => {
    test("Temporal's own cancellation, a button of its Web UI, abandons no money", async () => {
      const order = await authorize();
      await order.handle.cancel();
      await order.follow('capture', 300);
      await moneyBecomes(order, 'completed: accepted; 300 captured: capture completed');
      await pass(60 * MINUTE);
      await untilClosed(order);
      expect(await ledger(order)).toEqual(['authorize 500 approved', 'capture 300 approved', 'void 200 approved']);
    });

    test('rules 8.2: a void in full cancels the delayed capture', async () => {
      const order = await authorize('delayed');
      await order.follow('void');
      await untilClosed(order);
      await pass(61 * MINUTE);
      expect(await ledger(order)).toEqual(['authorize 500 approved', 'void 500 approved']);
    });

    test('paid on the page after a decline: the further attempt is an authorization too', async () => {
      const order = await createAnOrder(world, { capture_mode: 'manual', transaction_period: 30 * MINUTE });
      await order.pay(CARDS.do_not_honor.number, 1);
      expect(await isRunning(order)).toBe(true);
      await order.cancel();
      expect(await statusesOfOrder(order)).toBe('cancelled: error');
      await untilClosed(order);
    });

    test('after a challenge the window counts from acceptance, not from creation', async () => {
      const order = await authorize('manual', 'challenge');
      // No multiple of five minutes, at which the processor is asked: news that come in the very moment of a timer can
      // stop the test server's time.
      await pass(4 * MINUTE);
      await answerAtIssuer(order, { code: '0101' });
      const before = await world.now();
      await order.handle.signal(processorAnswered);
      await until('it is accepted', async () => (await statusesOfOrder(order)) === 'completed: accepted');
      expect((await windowEnd(order)) - 60 * MINUTE).toBeGreaterThanOrEqual(before);
      await order.follow('void');
    });
  });

  describe('an order that Temporal has lost', () => {
    test('is found in the record by a capture, and goes on from there', async () => {
      const order = await authorize();
      await order.handle.terminate('lost');
      await order.follow('capture', 200);
      expect(await all(order)).toBe('completed: accepted; 200 captured: capture completed');
      expect(await order.handle.result()).toBe('completed');
      expect(await all(order)).toBe('completed: accepted; 200 captured, 300 voided: capture completed, void completed');
      expect(await ledger(order)).toEqual(['authorize 500 approved', 'capture 200 approved', 'void 300 approved']);
    });

    test('one that never was is refused', async () => {
      const order = await authorize();
      await order.follow('void');
      await expect(order.follow('capture', 1, { original_order_id: uuidv7() }).catch(refusalOf)).resolves.toBe(
        'NotFound',
      );
    });
  });

  describe('rules 8.2, 8.8 and 8.9: at the end of the window', () => {
    test.each<[string, 'manual' | 'delayed', CardName, ['capture' | 'void', number][], string, string[]]>([
      [
        'manual, captured in part: the rest is released',
        'manual',
        'approved',
        [['capture', 300]],
        'completed: accepted; 300 captured, 200 voided: capture completed, void completed',
        ['capture 300 approved', 'void 200 approved'],
      ],
      [
        'manual, voided in part: the rest is released',
        'manual',
        'approved',
        [['void', 200]],
        'completed: expired; 500 voided: void completed, void completed',
        ['void 200 approved', 'void 300 approved'],
      ],
      [
        'delayed, voided in part: the rest is captured',
        'delayed',
        'approved',
        [['void', 200]],
        'completed: accepted; 300 captured, 200 voided: void completed, capture completed',
        ['void 200 approved', 'capture 300 approved'],
      ],
      [
        'delayed, the capture is refused: released',
        'delayed',
        'capture_refused',
        [],
        'completed: expired; 500 voided: capture error, void completed',
        ['capture 500 refused', 'void 500 approved'],
      ],
    ])('%s', async (_title, mode, card, steps, expected, moved) => {
      const order = await authorize(mode, card);
      for (const [kind, amount] of steps) await order.follow(kind, amount);
      const before = (await order.view()).follow_ups.length;
      expect(await order.handle.result()).toBe('completed');
      expect(await all(order)).toBe(expected);
      expect(await ledger(order)).toEqual(['authorize 500 approved', ...moved]);
      const { transactions, follow_ups } = await order.view();
      const end = Date.parse(transactions[0]?.capture_ends_at ?? '');
      for (const [i, { id }] of follow_ups.slice(before).entries()) {
        const [own] = await world.database.db('orders').where({ id }).select('requested_by', 'created');
        expect([id, own.requested_by]).toEqual([closingOrderId(transactionIdOf(order.id, 1), i + 1), 'service']);
        expect(Math.abs(Date.parse(own.created) - end)).toBeLessThan(60_000);
      }
      if (expected.includes('expired')) {
        expect(transactions[0]?.events.at(-1)).toMatchObject({ event: 'expired', source: 'service' });
      }
    });

    test('an amount of an unanswered capture is not released; once that is refused, it is', async () => {
      const order = await authorize('manual', 'capture_refused', { capture_period: 'PT1M' });
      await merchant.addFault({ kind: 'outage', operation: 'capture', order_id: order.id });
      const capture = await order.follow('capture', 300);
      expect(await statusesOfRow(world, capture)).toBe('processing: processing');
      // Between two asks, which come 7 and 37 seconds after the end.
      await sleepUntil(world, (await windowEnd(order)) + 20_000);
      await moneyBecomes(
        order,
        'completed: accepted; 200 voided, 300 capture_pending: capture processing, void completed',
      );
      expect(await isRunning(order)).toBe(true);
      await merchant.removeFaults();
      await world.env.client.workflow.getHandle(orderWorkflowId(capture)).signal(processorAnswered);
      await moneyBecomes(order, 'completed: expired; 500 voided: capture error, void completed, void completed');
      expect((await ledger(order)).toSorted()).toEqual([
        'authorize 500 approved',
        'capture 300 refused',
        'void 200 approved',
        'void 300 approved',
      ]);
      await untilClosed(order);
    });

    test('a request made in time counts, however late it is answered', async () => {
      const order = await authorize('manual', 'approved', { capture_period: 'PT1M' });
      await merchant.addFault({ kind: 'outage', operation: 'capture', order_id: order.id });
      const capture = await order.follow('capture');
      await sleepUntil(world, (await windowEnd(order)) + 20_000);
      expect(await all(order)).toBe('completed: accepted; 500 capture_pending: capture processing');
      await merchant.removeFaults();
      await world.env.client.workflow.getHandle(orderWorkflowId(capture)).signal(processorAnswered);
      await moneyBecomes(order, 'completed: accepted; 500 captured: capture completed');
      expect(await ledger(order)).toEqual(['authorize 500 approved', 'capture 500 approved']);
      await untilClosed(order);
    });

    test('an order without a signal about a capture releases only what is left', async () => {
      const order = await authorize();
      const { db } = world.database;
      const { id: order_id, ...capture } = followUpOf(order.id, 'capture', { amount: 300 });
      const now = await world.now();
      const written = await insertFollowUp(db, {
        ...capture,
        id: order_id,
        transaction_id: transactionId(order_id, 1),
        now,
      });
      await recordFollowUpOutcome(db, written, { ...capture, amount: 300 }, 'accepted', { source: 'processor', now });
      expect(await order.handle.result()).toBe('completed');
      expect(await moneySummaryOf(order)).toMatch(/^300 captured, 200 void/);
    });
  });

  describe('rules 7.1: one second before, exactly at and one second after the end of the window', () => {
    test('captured, refused, released', async () => {
      const act = async (one: TestOrder) => {
        await one.follow('capture', 100);
        return await all(one);
      };
      const {
        subject: order,
        end,
        answer,
      } = await inTheLastSecond(world, { create: () => authorize(), end: windowEnd, act });
      expect(answer).toBe('completed: accepted; 100 captured: capture completed');
      await sleepUntil(world, end);
      await expect(order.follow('capture', 100).catch(refusalOf)).resolves.toBe('Conflict');
      await sleepUntil(world, end + 1_000);
      await moneyBecomes(order, 'completed: accepted; 100 captured, 400 voided: capture completed, void completed');
    });
  });
});
