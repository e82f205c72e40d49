import { v7 as uuidv7 } from 'uuid';
import { showPage, type PageContext } from '../../api/page/handlers';
import { orderPayables } from '../../api/page/order';
import type { Payable } from '../../api/page/payable';
import { findPayment } from '../../src/db/orders/transactions';
import { chargeIdempotencyKey } from '../../src/domain/transaction';
import { reversalOrderId } from '../../src/ids';
import type { OperationResult } from '../../src/processor/wire';
import type { OrderWorkflows } from '../../src/temporal/orders';
import type { ProcessorNotifications } from '../../src/temporal/processor-notifications';
import { createWorkflowClients } from '../../src/temporal/workflows';
import { ATTENTION, orderWorkflowId } from '../../workflows/messages';
import { CARDS, MINUTE, transactionIdOf } from '../support/domain';
import { Merchant } from '../support/merchant';
import { setUp } from '../support/set-up';
import { createWorkflowEnvironment } from '../support/temporal';
import { until } from '../support/waits';
import {
  answerAtIssuer,
  createAnOrder,
  moneySummaryOf,
  statusesOfRow,
  statusesOfOrder,
  type TestOrder,
} from '../support/workflow-orders';

/**
 * A payment that the processor approves after it has ended here is given back, once, whether anybody tells of it or
 * not.
 */

const world = setUp(() => createWorkflowEnvironment());
let orders: OrderWorkflows;
let notifications: ProcessorNotifications;
const merchant = new Merchant();
beforeAll(async () => {
  const workflows = createWorkflowClients({ client: world.env.client, db: world.database.db });
  ({ orders, processor_notifications: notifications } = workflows);
});

const soon = () => Date.now() + 8_000;
/** Lets workflow time pass; nothing else may be under way. */
const pass = (milliseconds: number) => world.env.sleep(milliseconds);
const sleepUntil = async (instant: number) => await pass(Math.max(0, instant - (await world.now())));
const endOf = async (order: TestOrder) => Date.parse((await order.view()).expires_at ?? '');

const ledger = async ({ id }: TestOrder) =>
  (await merchant.ledger(id)).map(
    ({ operation, amount, result, requests }) => `${operation} ${amount} ${result} ${requests}`,
  );
const reversalOf = ({ id }: TestOrder, attempt = 1) => reversalOrderId(transactionIdOf(id, attempt));
/** Where the workflow of its reversal stands; undefined when there never was one. */
async function watchOf(order: TestOrder, attempt = 1): Promise<string | undefined> {
  try {
    return (await world.env.client.workflow.getHandle(orderWorkflowId(reversalOf(order, attempt))).describe()).status
      .name;
  } catch {
    return undefined;
  }
}
const watches = (order: TestOrder, attempt = 1) =>
  until('its reversal waits to ask', async () => (await watchOf(order, attempt)) === 'RUNNING');
const untilClosed = (order: TestOrder, attempt = 1) =>
  until('nobody watches it any more', async () => (await watchOf(order, attempt)) === 'COMPLETED');

/** What the processor knows of the charge, as its notification tells it. */
async function newsOf({ id }: TestOrder, attempt = 1): Promise<OperationResult> {
  const known = await world.processor.findOperation(chargeIdempotencyKey(transactionIdOf(id, attempt)), {});
  if (typeof known === 'string' || known.result === 'mismatch') throw new Error(JSON.stringify(known));
  return known;
}
const tell = async (order: TestOrder, attempt = 1) => await notifications.handle(await newsOf(order, attempt), soon());

async function isGivenBack(order: TestOrder, expected: string, attempt = 1): Promise<void> {
  await until(
    'it is given back',
    async () => (await statusesOfRow(world, reversalOf(order, attempt))) === 'completed: accepted',
  );
  await untilClosed(order, attempt);
  expect(await statusesOfOrder(order)).toBe(expected);
  expect((await order.view()).follow_ups).toEqual([
    { id: reversalOf(order, attempt), kind: 'reversal', status: 'completed' },
  ]);
  expect((await merchant.ledger(order.id)).filter(({ operation }) => operation === 'reversal')).toEqual([
    expect.objectContaining({
      transaction_id: transactionIdOf(order.id, attempt),
      amount: 500,
      result: 'approved',
      requests: 1,
    }),
  ]);
}

async function nothingIsGivenBack(order: TestOrder): Promise<void> {
  expect((await order.view()).follow_ups.filter(({ kind }) => kind === 'reversal')).toEqual([]);
  expect((await ledger(order)).filter((entry) => entry.startsWith('reversal'))).toEqual([]);
}

const ENDINGS: Record<'cancelled' | 'expired', (order: TestOrder) => Promise<unknown>> = {
  cancelled: (order) => order.cancel(),
  expired: async (order) => {
    await sleepUntil((await endOf(order)) - 1_000);
    await pass(2_000);
    await until('it expires', async () => (await statusesOfOrder(order)) === 'expired: expired');
  },
};

/** An order that ended while its customer was at the issuer. */
async function endedAtTheIssuer(ending: keyof typeof ENDINGS): Promise<TestOrder> {
  const order = await createAnOrder(world, { card_number: CARDS.challenge.number });
  await ENDINGS[ending](order);
  expect(await statusesOfOrder(order)).toBe(`${ending}: ${ending}`);
  await watches(order);
  return order;
}

describe.each(['cancelled', 'expired'] as const)('%s while its customer is at the issuer', (ending) => {
  test('approved without a notification: found by polling after 15 minutes and reversed', async () => {
    const order = await endedAtTheIssuer(ending);
    await answerAtIssuer(order, { code: '0101' });
    await pass(14 * MINUTE);
    expect(await watchOf(order)).toBe('RUNNING');
    await nothingIsGivenBack(order);
    await pass(90_000);
    await isGivenBack(order, `${ending}: ${ending}`);
  });
});

describe('cancelled while its customer is at the issuer', () => {
  test('approved and notified before it is polled: reversed at once; a second notification changes nothing', async () => {
    const order = await endedAtTheIssuer('cancelled');
    await answerAtIssuer(order, { code: '0101' });
    const before = await world.now();
    await tell(order);
    await isGivenBack(order, 'cancelled: cancelled');
    expect((await world.now()) - before).toBeLessThan(MINUTE);
    await tell(order);
    await isGivenBack(order, 'cancelled: cancelled');
  });

  test('rules 10.12: still at the issuer after a day: the operator has to look, and an approval is found all the same', async () => {
    const order = await endedAtTheIssuer('cancelled');
    const handle = world.env.client.workflow.getHandle(orderWorkflowId(reversalOf(order)));
    await pass(26 * 60 * MINUTE);
    const { typedSearchAttributes } = await handle.describe();
    expect(typedSearchAttributes.get(ATTENTION)).toMatch(/late approval for a day/);
    expect(await watchOf(order)).toBe('RUNNING');
    await answerAtIssuer(order, { code: '0101' });
    await tell(order);
    await isGivenBack(order, 'cancelled: cancelled');
  });

  test('polled early, because the customer opened the page: it is polled again at the end', async () => {
    const order = await endedAtTheIssuer('cancelled');
    const transaction_id = transactionIdOf(order.id, 1);
    await notifications.customerReturned({ order_id: order.id, transaction_id }, soon());
    await world.env.client.workflow
      .getHandle(orderWorkflowId(reversalOf(order)))
      .executeUpdate('firstAnswer')
      .catch(() => undefined);
    await answerAtIssuer(order, { code: '0101' });
    await pass(16 * MINUTE);
    await isGivenBack(order, 'cancelled: cancelled');
  });
});

describe('a customer who comes back from the issuer to an order that has ended', () => {
  /** What the page shows of the order when it is opened so: its state, or how it ended. */
  async function open({ id }: TestOrder, query: Record<string, string>): Promise<string[]> {
    const shown: string[] = [];
    const page = showPage({
      payables: orderPayables({ db: world.database.db, orders, processor_notifications: notifications }),
      deadline_ms: 5_000,
      csrf: { payer: () => undefined },
      respond: async (_request: unknown, _response: unknown, { state }: Payable) =>
        void shown.push(state.kind === 'ended' ? state.outcome : state.kind),
    } as unknown as PageContext<Payable>);
    await page(
      { params: { id, transaction_id: transactionIdOf(id, 1) }, query } as never,
      {} as never,
      () => undefined,
    );
    return shown;
  }

  test('expired, and paid there: it is given back', async () => {
    const order = await endedAtTheIssuer('expired');
    await answerAtIssuer(order, { code: '0101' });
    expect(await open(order, {})).toEqual(['expired']);
    await nothingIsGivenBack(order);
    expect(await open(order, { from: 'issuer' })).toEqual(['given_back']);
    await isGivenBack(order, 'expired: expired');
  });

  test('its reversal’s workflow was lost: it is given back all the same', async () => {
    const order = await endedAtTheIssuer('cancelled');
    await world.env.client.workflow.getHandle(orderWorkflowId(reversalOf(order))).terminate('lost');
    await answerAtIssuer(order, { code: '0101' });
    await open(order, { from: 'issuer' });
    await isGivenBack(order, 'cancelled: cancelled');
  });
});

type Voided = Awaited<ReturnType<typeof chargedIntoTheVoid>>;
/** A charge that goes out again and again, and never arrives; `arrive` lets it, at last. */
async function chargedIntoTheVoid(
  options: { transaction_period?: number } = {},
): Promise<{ order: TestOrder; arrive: () => Promise<void>; well: () => Promise<void> }> {
  const id = uuidv7();
  // Ends the faults of this order, and of no other.
  const clerk = new Merchant();
  await clerk.addFault({ kind: 'outage', operation: 'sale', order_id: id });
  const paid_on_page = options.transaction_period !== undefined;
  const order = await createAnOrder(world, {
    id,
    ...(paid_on_page ? options : { card_number: CARDS.approved.number }),
  });
  if (paid_on_page) await order.pay(CARDS.approved.number);
  expect(await statusesOfOrder(order)).toBe('processing: processing');
  const { payment_method_details, project_id, is_test } = await findPayment(world.database.db, transactionIdOf(id, 1));
  const arrive = async () => {
    await clerk.removeFaults();
    const transaction_id = transactionIdOf(id, 1);
    const charge = {
      operation: 'sale',
      order_id: id,
      transaction_id,
      project_id,
      is_test,
      amount: 500,
      currency: 'EUR',
      vault_token: payment_method_details.vault_token ?? '',
      return_url: 'http://127.0.0.1:1/',
    } as const;
    expect(await world.processor.execute(charge, chargeIdempotencyKey(transaction_id))).toMatchObject({
      result: 'approved',
    });
  };
  return { order, arrive, well: () => clerk.removeFaults() };
}

/**
 * Lets time pass bit by bit until the story of each is so: they ask on the way, and no activity may run while time
 * passes.
 */
async function passUntil(orders: TestOrder[], expected: string): Promise<void> {
  const stories = () => Promise.all(orders.map((order) => statusesOfOrder(order)));
  for (let minutes = 0; minutes < 40 && (await stories()).some((one) => one !== expected); minutes += 1) {
    await pass(MINUTE);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await until('nothing is under way', async () => (await Promise.all(orders.map(isAtRest))).every(Boolean));
  }
  expect(await stories()).toEqual(orders.map(() => expected));
}

async function isAtRest({ handle }: TestOrder): Promise<boolean> {
  const { pendingActivities, pendingWorkflowTask } = (await handle.describe()).raw;
  return (pendingActivities ?? []).length === 0 && !pendingWorkflowTask;
}

describe('given up at its end, as the processor never saw it', () => {
  // Their half hour passes once for all of them.
  test('the charge arrives afterwards, without a notification: reversed; one that never arrives is not', async () => {
    const [arriving, lost] = await Promise.all([chargedIntoTheVoid(), chargedIntoTheVoid()]);
    const orders = [arriving.order, lost.order];
    await passUntil(orders, 'expired: error');
    for (const order of orders) {
      expect(await ledger(order)).toEqual([]);
      await watches(order);
    }
    await arriving.arrive();
    await pass(16 * MINUTE);
    await isGivenBack(arriving.order, 'expired: error');
    // The processor's look-up may lag: it is asked for hours.
    expect(await watchOf(lost.order)).toBe('RUNNING');
    await pass(7 * 60 * MINUTE);
    await untilClosed(lost.order);
    await nothingIsGivenBack(lost.order);
    await lost.well();
  });

  test('a later attempt paid, and the charge of the earlier one arrives, notified or not: the earlier one is given back, the later one is not', async () => {
    const [notified, notNotified] = (await Promise.all(
      [1, 2].map(() => chargedIntoTheVoid({ transaction_period: 10 * MINUTE })),
    )) as [Voided, Voided];
    await passUntil([notified.order, notNotified.order], 'processing: error');
    for (const { order, arrive, well } of [notified, notNotified]) {
      await well();
      await order.pay(CARDS.approved.number, 2);
      expect(await statusesOfOrder(order)).toBe('completed: error accepted');
      await arrive();
    }
    await tell(notified.order);
    await isGivenBack(notified.order, 'completed: error accepted');
    await nothingIsGivenBack(notNotified.order);
    await pass(16 * MINUTE);
    for (const { order } of [notified, notNotified]) {
      await isGivenBack(order, 'completed: error accepted');
      expect((await ledger(order)).toSorted()).toEqual([
        'reversal 500 approved 1',
        'sale 500 approved 1',
        'sale 500 approved 1',
      ]);
    }
  });
});

describe('an approval in time is never taken for a late approval', () => {
  test.each([
    ['voided', 'completed: cancelled', async (order: TestOrder) => void (await order.follow('void'))],
    ['released at its end', 'completed: expired', async () => await pass(61 * MINUTE)],
    ['captured in part', 'completed: accepted', async (order: TestOrder) => void (await order.follow('capture', 100))],
  ])('an authorization that was %s', async (_title, expected, happens) => {
    const order = await createAnOrder(world, { card_number: CARDS.challenge.number, capture_mode: 'manual' });
    await answerAtIssuer(order, { code: '0101' });
    await tell(order);
    await until('it is paid', async () => (await statusesOfOrder(order)) === 'completed: accepted');
    await happens(order);
    await until(`it becomes ${expected}`, async () => (await statusesOfOrder(order)) === expected);
    const before = await moneySummaryOf(order);
    await tell(order);
    await notifications.customerReturned({ order_id: order.id, transaction_id: transactionIdOf(order.id, 1) }, soon());
    expect([await watchOf(order), await moneySummaryOf(order)]).toEqual([undefined, before]);
    await nothingIsGivenBack(order);
  });

  test('a decline by the issuer, of which the processor notifies again', async () => {
    const order = await createAnOrder(world, { card_number: CARDS.do_not_honor.number });
    await tell(order);
    await untilClosed(order);
    await nothingIsGivenBack(order);
  });
});
