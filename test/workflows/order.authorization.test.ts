import { WorkflowUpdateFailedError } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import { insertFollowUp, recordFollowUpOutcome } from '../../src/db/orders/follow-ups';
import { closingOrderId, transactionId } from '../../src/ids';
import { ServiceError } from '../../src/errors';
import { orderWorkflowId, processorAnswered } from '../../workflows/messages';
import { CARDS, MINUTE, transactionIdOf, type CardName } from '../support/domain';
import { Merchant } from '../support/merchant';
import { setUp } from '../support/set-up';
import { createWorkflowEnvironment } from '../support/temporal';
import { inTheLastSecond, sleepUntil, until } from '../support/waits';
import {
  answerAtIssuer,
  createAnOrder,
  followUpOf,
  moneySummaryOf,
  statusesOfRow,
  statusesOfOrder,
  type TestOrder,
} from '../support/workflow-orders';

/**
 * Authorizations: what their orders live for after they are completed. All windows last an hour unless a test says
 * otherwise.
 */
const world = setUp(() => createWorkflowEnvironment());
const merchant = new Merchant();

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
const becomes = (order: TestOrder, expected: string) =>
  until(`the payment becomes ${expected}`, async () => (await all(order)) === expected);
const ledger = async (order: TestOrder) =>
  (await merchant.ledger(order.id)).map(({ operation, amount, result }) => `${operation} ${amount} ${result}`);
const untilClosed = (order: TestOrder) => until('its workflow is over', async () => !(await isRunning(order)));

describe('while the window lasts', () => {
  test("Temporal's own cancellation, a button of its Web UI, abandons no money", async () => {
    const order = await authorize();
    await order.handle.cancel();
    await order.follow('capture', 300);
    await becomes(order, 'completed: accepted; 300 captured: capture completed');
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
    await becomes(order, 'completed: accepted; 200 voided, 300 capture_pending: capture processing, void completed');
    expect(await isRunning(order)).toBe(true);
    await merchant.removeFaults();
    await world.env.client.workflow.getHandle(orderWorkflowId(capture)).signal(processorAnswered);
    await becomes(order, 'completed: expired; 500 voided: capture error, void completed, void completed');
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
    await becomes(order, 'completed: accepted; 500 captured: capture completed');
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
    await becomes(order, 'completed: accepted; 100 captured, 400 voided: capture completed, void completed');
  });
});
