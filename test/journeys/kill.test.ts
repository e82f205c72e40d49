import { setTimeout as sleep } from 'node:timers/promises';
import {
  captureTransactionAmount,
  createOrder,
  refundOrder,
  type Order,
  type Timeline,
  type TransactionRequest,
} from '../../src/client';
import { listChanges } from '../../src/db/projects/audit-trail';
import { connectDatabase } from '../../src/db/connection';
import { queryRows } from '../../src/db/query';
import { deliveryWorkflowId, orderWorkflowId } from '../../workflows/messages';
import { CARD, Client } from '../support/customer';
import { recordRows } from '../support/database';
import { Merchant, statusesOf, webhookOf, type RestAnswer } from '../support/merchant';
import { answerOfAdmin } from '../support/admin';
import { Operator } from '../support/operator';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { idle, OwnStack, type ProcessName } from '../support/stack';
import { withTemporal } from '../support/temporal-client';
import { sendUntilAnswered, until } from '../support/waits';

/**
 * kill -9 while money moves, on a stack of its own. The processor is slow on purpose, so that the kill comes when
 * it has the charge and nobody has its answer.
 */
const own = new OwnStack('kill', () => ({ DEMO_WEBHOOK_URL: receiver.url, ...versioning }), idle('codec'));
/** As by default at first. */
let versioning: { DEPLOYMENT_VERSIONING?: 'off' } = {};

const receiver = setUp(startReceiver);
let merchant: Merchant;
/** An order whose first webhook was refused before anything was killed. */
let refusedOnce: string;
/** Another one, whose first webhook was paused then; it was redelivered, and refused once more. */
let pausedOnce: string;
/** When the second attempt of their deliveries is due, by `<order_id>-<n>`. */
const due: Record<string, string> = {};
/** An order that was paid on the hosted page when the worker, the API and the Temporal server were killed. */
let paidOnPage: string;
let operator: Operator;

async function start(): Promise<void> {
  const stack = await own.start();
  merchant = new Merchant(stack);
  operator = await Operator.signIn(stack);
}

beforeAll(async () => {
  await start();
  const refused = (order_id: string, n = 1) =>
    until('the attempt is recorded', async () => {
      const { attempts, next_attempt_at } = await operator.delivery(order_id, n);
      if (attempts.length === 1) due[`${order_id}-${n}`] = next_attempt_at!;
      return attempts.length === 1;
    });
  await refusing(
    () => true,
    async () => {
      refusedOnce = (await merchant.paidOrder('approved')).id;
      pausedOnce = (await merchant.paidOrder('approved')).id;
      await refused(pausedOnce);
      await operator.ask('pauseDelivery', pausedOnce);
      await operator.ask('redeliver', pausedOnce);
      await refused(pausedOnce, 2);
      await refused(refusedOnce);
    },
  );
});
afterAll(async () => {
  await own.discard();
});

/**
 * How late the processor is: what shall be killed meanwhile must be killed by then, on a busy machine too. The service
 * waits for 4 s.
 */
const SLOW_MS = 2_500;
/** For several at once: just short of those 4 s. */
const SLOWEST_MS = 3_500;
/** What was under way waits for the time limit of its workflow task, six seconds, for a start and the next attempts. */
const WITHIN_MS = 90_000;
const TIME_LIMIT_MS = 180_000;

const timelineOf = async (id: string) => (await merchant.send<Timeline>('GET', `/v1/orders/${id}/timeline/`)).body;

const kill = (name: ProcessName) => own.kill(name);
const ready = () => own.ready();

interface Charge {
  answer: ReturnType<typeof createOrder>;
  /** Whether the merchant has been told that it is paid. */
  isTold(): boolean;
  /** Whoever sent it may never hear of it: the record tells its id. */
  findId(): Promise<string>;
}

let chargesMade = 0;

/** Sends an order with a card token and resolves once the processor has its charge, which it will do SLOW_MS later. */
async function beingCharged(): Promise<Charge> {
  const transaction = await merchant.cardTransaction('approved');
  const { vault_token } = transaction.payment_method_details;
  const merchant_order_id = `charge-${(chargesMade += 1)}`;
  const { hit } = await merchant.addFault({
    operation: 'sale',
    vault_token,
    kind: 'latency',
    milliseconds: SLOW_MS,
    times: 1,
  });
  let told = false;
  const answer = createOrder(
    { orderRequest: { currency: 'EUR', amount: 990, merchant_order_id, transactions: [transaction] } },
    merchant.project,
  );
  answer.then(({ status, data }) => (told = status === 200 && data.status === 'completed')).catch(() => undefined);
  await hit;
  return { answer, isTold: () => told, findId: () => idOf(merchant_order_id) };
}

/**
 * Time for what has arrived at this process to be read: after each pause it looks at its sockets, however late it is.
 */
async function isRead(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await sleep(15);
}

/**
 * Kills while the processor has a charge and nobody its answer; `killing` does it at once when it is called. Where a
 * busy machine was so late that the answer came first, it happens again with another order.
 */
async function killedWhileCharging(
  killing: () => Promise<unknown>,
  again: () => Promise<unknown> = ready,
): Promise<Charge> {
  for (let tries = 1; tries <= 3; tries += 1) {
    const charge = await beingCharged();
    const killed = killing();
    await isRead();
    const was_told = charge.isTold();
    await killed;
    if (!was_told) return charge;
    await again();
  }
  throw new Error(`this machine does not kill a process within ${SLOW_MS} ms`);
}

/** Like `killedWhileCharging`, while other money moves that has no answer at the kill either. */
async function killedWhileMoneyMoves(
  killing: () => Promise<unknown>,
  { before, again = ready }: { before?: () => Promise<unknown>; again?: () => Promise<unknown> } = {},
): Promise<{ charge: Charge; moving: MovingMoney }> {
  for (let tries = 1; tries <= 3; tries += 1) {
    await before?.();
    const moving = await moneyOnItsWay();
    let is_unanswered = false;
    const kill = () => {
      const killed = killing();
      is_unanswered = Date.now() < moving.answered_at;
      return killed;
    };
    const charge = await killedWhileCharging(kill, again);
    if (is_unanswered) return { charge, moving };
    await again();
    await expectMovedOnce(moving);
  }
  throw new Error(`this machine does not kill a process within ${SLOWEST_MS} ms`);
}

/** An order that is paid on the hosted page at this moment: the processor has the charge, nobody its answer. */
async function orderBeingPaidOnPage(): Promise<string> {
  const order = await merchant.createOrder({ amount: 990 });
  const customer = new Client(merchant.stack.api_url);
  const form = { ...CARD, ...(await customer.openPage(order)) };
  const { hit } = await merchant.addFault({
    operation: 'sale',
    order_id: order.id,
    kind: 'latency',
    milliseconds: SLOW_MS,
    times: 1,
  });
  customer.postForm(`/pay/${order.id}/`, form).catch(() => undefined);
  await hit;
  return order.id;
}

/** Orders whose money moves at this moment: the processor has each request, nobody its answer. */
interface MovingMoney {
  refunded: string;
  captured: string;
  /** Its capture window has just ended. */
  closing: string;
  /** A payment link that is paid on its page: its order is there, and the processor has the charge. */
  link: string;
  /** Of the merchant, who asks again by the key of the request until there is one: the refund and the capture order. */
  answers: Promise<RestAnswer<Order>[]>;
  /** Before this instant the processor answers none of them. */
  answered_at: number;
}

let keysMade = 0;

async function moneyOnItsWay(): Promise<MovingMoney> {
  const token = await merchant.cardTransaction('approved');
  const late = { kind: 'latency', milliseconds: SLOWEST_MS, times: 1 } as const;
  const slow = (operation: 'capture' | 'refund' | 'sale', order?: Order) =>
    merchant.addFault({ operation, ...(order && { order_id: order.id! }), ...late });
  const charged = async (transaction: TransactionRequest) =>
    merchant.untilOutcomeKnown(await merchant.createOrder({ amount: 990, transactions: [transaction] }));
  const [link, paid, reserved] = await Promise.all([
    merchant.createPaymentLink({ amount: 990 }),
    charged(token),
    charged({ ...token, capture_mode: 'manual' }),
  ]);
  const { pathname } = new URL(link.payment_url);
  const customer = new Client(merchant.stack.api_url);
  const form = { ...CARD, ...(await customer.openPage({ id: link.id }, pathname)) };
  // Whichever capture and sale are the first: the capture's fault is there before the window of its order ends.
  const faults = [
    await slow('capture'),
    await slow('refund', paid),
    await slow('capture', reserved),
    await slow('sale'),
  ];
  const closing = await merchant.createOrder({
    amount: 990,
    transactions: [{ ...token, capture_mode: 'delayed', expiration_period: 'PT2S' }],
  });
  await faults[0]!.hit;
  const [refundKey, captureKey] = [`refund-${(keysMade += 1)}`, `capture-${keysMade}`];
  const answers = Promise.all([
    sendUntilAnswered<Order>(() =>
      refundOrder({ orderId: paid.id!, idempotencyKey: refundKey, body: { amount: 400 } }, merchant.project),
    ),
    sendUntilAnswered<Order>(() =>
      captureTransactionAmount(
        {
          orderId: reserved.id!,
          transactionId: reserved.transactions![0]!.id!,
          idempotencyKey: captureKey,
          body: { amount: 600, description: 'a parcel' },
        },
        merchant.project,
      ),
    ),
  ]);
  answers.catch(() => undefined);
  customer.postForm(pathname, form).catch(() => undefined);
  await Promise.all(faults.map(({ hit }) => hit));
  // The capture at the end of the window is the first of them.
  const answered_at = Date.parse(closing.created) + 2_000 + SLOWEST_MS;
  return { refunded: paid.id!, captured: reserved.id!, closing: closing.id!, link: link.id, answers, answered_at };
}

/** Each moved once, at the processor and in the record; the merchant has the answers. */
async function expectMovedOnce({ refunded, captured, closing, link, answers }: MovingMoney): Promise<void> {
  for (const { status, body } of await answers) {
    expect(status).toBe(200);
    expect(statusesOf(await merchant.untilStatus(body.id!, 'completed', WITHIN_MS))).toBe('completed: accepted');
  }
  const moved = async (id: string, amounts: Partial<Order & NonNullable<Order['transactions']>[number]>) => {
    const order = await until(
      `${JSON.stringify(amounts)} of ${id}`,
      async () => {
        const now = await merchant.getOrder(id);
        const shown = { ...now.transactions![0], refunded_amount: now.refunded_amount };
        return Object.entries(amounts).every(([name, amount]) => shown[name as keyof typeof shown] === amount) && now;
      },
      WITHIN_MS,
    );
    return [
      statusesOf(order),
      order.related_orders?.length,
      (await merchant.ledger(id)).map(({ operation, result, amount }) => `${operation} ${result} ${amount}`),
    ];
  };
  expect(await moved(refunded, { refunded_amount: 400 })).toEqual([
    'completed: accepted',
    1,
    ['sale approved 990', 'refund approved 400'],
  ]);
  expect(await moved(captured, { captured_amount: 600 })).toEqual([
    'completed: accepted',
    1,
    ['authorize approved 990', 'capture approved 600'],
  ]);
  expect(await moved(closing, { captured_amount: 990 })).toEqual([
    'completed: accepted',
    1,
    ['authorize approved 990', 'capture approved 990'],
  ]);
  const { completed_order_id, orders } = await until(
    'the link is paid',
    async () => {
      const now = await merchant.getPaymentLink(link);
      return now.status === 'completed' && now;
    },
    WITHIN_MS,
  );
  expect(orders).toEqual({ completed: [completed_order_id] });
  await expectPaidOnce(completed_order_id!);
}

const idOf = (merchant_order_id: string): Promise<string> =>
  until(`an order ${merchant_order_id}`, async () => {
    const sql = 'select id from orders where merchant_order_id = :merchant_order_id';
    return (await recordRows<{ id: string }>(sql, { merchant_order_id }, merchant.stack))[0]?.id;
  });

/** Runs the work while the receiver refuses the webhooks of these orders. */
async function refusing<T>(isRefused: (order_id: string) => boolean, work: () => Promise<T>): Promise<T> {
  receiver.answer((response, _n, { body }) =>
    response.writeHead(isRefused(webhookOf(body).order_id) ? 503 : 200).end(),
  );
  try {
    return await work();
  } finally {
    receiver.answer((response) => response.writeHead(200).end());
  }
}

/** An operator sets an outcome, whose entry in the audit trail is being written when this resolves. */
async function setOutcomeSlowly(): Promise<{ expectSetOnce(): Promise<void> }> {
  const order = await merchant.paidOrder('processing_approved');
  await merchant.addFault({ operation: 'ask', order_id: order.id, kind: 'outage' });
  const transaction_id = order.transactions![0]!.id;
  const db = connectDatabase(merchant.stack.postgres_url, { pool_max: 2 });
  const holder = await db.transaction();
  await holder.raw('lock table audit_trail in share mode');
  const set = () =>
    answerOfAdmin(['outcome', 'set', transaction_id, '--outcome', 'approved', '--reason', 'Bank statement'], {
      data_dir: own.data_dir,
    });
  const first = set();
  const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%audit_trail%'`;
  await until('the entry is being written', async () => (await queryRows(db, waiting)).length > 0);
  return {
    async expectSetOnce() {
      await holder.rollback();
      await first;
      // Its time may be over before another worker has started.
      await until('it is set', async () => (await set())['set'] === 'earlier', WITHIN_MS);
      expect((await listChanges(db, { object: transaction_id }, { limit: 10 })).items).toHaveLength(1);
      await db.destroy();
      await merchant.removeFaults();
      expect(statusesOf(await merchant.getOrder(order.id))).toBe('completed: accepted');
    },
  };
}

const webhooksOf = (order_id: string) =>
  receiver.received.map(({ body }) => webhookOf(body)).filter((webhook) => webhook.order_id === order_id);

/** A delivery that waits for its second attempt is told to make it, unless that is due. Returns whether it was. */
async function deliverEarly(order_id: string, n = 1): Promise<boolean> {
  const next_attempt_at = due[`${order_id}-${n}`]!;
  if (Date.now() > Date.parse(next_attempt_at) - 5_000) return false;
  // It waits as before all kills, and so does its workflow.
  expect(await operator.delivery(order_id, n)).toMatchObject({ status: 'new', next_attempt_at });
  await until('its workflow waits', async () => {
    const { events } = await withTemporal(merchant.stack, ({ workflow }) =>
      workflow.getHandle(deliveryWorkflowId({ order_id, n })).fetchHistory(),
    );
    const open = new Set<string>();
    for (const { timerStartedEventAttributes: started, ...ended } of events ?? []) {
      if (started != null) open.add(started.timerId!);
      open.delete((ended.timerFiredEventAttributes ?? ended.timerCanceledEventAttributes)?.timerId ?? '');
    }
    return open.size === 1;
  });
  expect(await operator.ask('deliverNow', order_id, n)).toBe('200 new');
  return true;
}

/** One charge, the order completed, its webhook delivered, its workflow over. */
async function expectPaidOnce(id: string, within_ms = WITHIN_MS): Promise<void> {
  const order = await merchant.untilStatus(id, 'completed', within_ms);
  expect(statusesOf(order)).toBe('completed: accepted');
  await until('the webhook is delivered', () => webhooksOf(id).length > 0, within_ms);
  const ledger = await merchant.ledger(id);
  expect(ledger.map(({ operation, result, amount }) => [operation, result, amount])).toEqual([
    ['sale', 'approved', 990],
  ]);
  const result = withTemporal(merchant.stack, ({ workflow }) => workflow.getHandle(orderWorkflowId(id)).result());
  expect(await result).toBe('completed');
}

// One after the other on one stack: each goes on where the one before it stopped.
describe('kill -9 in the middle of payments, a refund, a capture and a window’s end: each happens once', () => {
  // The first of all: recovery finds what it leaves a minute later, while the others run.
  test(
    'of the worker, the api and the Temporal server: the requests are gone, and only the processor knows',
    async () => {
      paidOnPage = await orderBeingPaidOnPage();
      const { answer, findId } = await killedWhileCharging(() =>
        Promise.all([kill('worker'), kill('api'), kill('temporal')]),
      );
      await expect(answer).rejects.toThrow('fetch failed');
      await ready();
      await expectPaidOnce(await findId());
    },
    TIME_LIMIT_MS,
  );

  test('of the worker: the merchant gets the outcome all the same', async () => {
    const { charge, moving } = await killedWhileMoneyMoves(() => kill('worker'));
    expect((await charge.answer).status).toBe(200);
    await expectPaidOnce(await charge.findId());
    await expectMovedOnce(moving);
  });

  test('of the api: the order goes on without it', async () => {
    const { charge, moving } = await killedWhileMoneyMoves(() => kill('api'));
    await expect(charge.answer).rejects.toThrow('fetch failed');
    await ready();
    await expectPaidOnce(await charge.findId());
    await expectMovedOnce(moving);
  });

  test('of the Temporal server', async () => {
    const { charge, moving } = await killedWhileMoneyMoves(() => kill('temporal'));
    await expectPaidOnce(await charge.findId());
    expect((await charge.answer).status).toBe(200);
    await expectMovedOnce(moving);
  });

  test('of the api and the Temporal server: no process is left that requested the payment', async () => {
    const { answer, findId } = await killedWhileCharging(() => Promise.all([kill('api'), kill('temporal')]));
    await expect(answer).rejects.toThrow('fetch failed');
    await ready();
    await expectPaidOnce(await findId());
  });

  test(
    'rules 24.21: of everything: payments and timers go on at the next start without versions, with the same keys',
    async () => {
      const { test_api_key, live_api_key } = merchant.stack;
      let waiting!: Awaited<ReturnType<Merchant['createOrder']>>;
      const { charge, moving } = await killedWhileMoneyMoves(() => own.killAll(), {
        before: async () => (waiting = await merchant.createOrder({ expiration_period: 'PT10S' })),
        again: start,
      });
      await expect(charge.answer).rejects.toThrow('fetch failed');
      // Due while nothing runs.
      await sleep(Math.max(0, Date.parse(waiting.created) + 10_000 - Date.now()));
      versioning = { DEPLOYMENT_VERSIONING: 'off' };
      await start();
      expect(merchant.stack).toMatchObject({ test_api_key, live_api_key });
      await merchant.untilStatus(waiting.id, 'expired');
      await until('the webhook of the expiry is delivered', () => webhooksOf(waiting.id).length > 0);
      await expectPaidOnce(await charge.findId());
      await expectMovedOnce(moving);
    },
    TIME_LIMIT_MS,
  );

  test(
    'of the worker, while a sandbox clock advances and an outcome is set by hand: all that falls due happens, each once',
    async () => {
      // What was refused before anything was killed is tried again at about this time.
      const { id } = await refusing(
        (order_id) => ![refusedOnce, pausedOnce].includes(order_id),
        async () => {
          const order = await merchant.paidOrder('approved');
          const outcome = await setOutcomeSlowly();
          const path = `/v1/orders/${order.id}/test-clock/`;
          const moving = merchant.send('POST', path, { body: { advance: 'P1D' } });
          await until('some attempts were made', () => webhooksOf(order.id).length >= 3);
          await kill('worker');
          await outcome.expectSetOnce();
          await moving;
          await until('the move has ended', async () => (await timelineOf(order.id)).next.length === 0, WITHIN_MS);
          return order;
        },
      );
      const { entries } = await timelineOf(id);
      // An attempt whose worker was killed is made again, and counts once.
      expect(entries.filter(({ event }) => event === 'webhook.attempt')).toHaveLength(10);
      expect(entries.filter(({ event }) => event === 'clock.moved')).toHaveLength(1);
    },
    TIME_LIMIT_MS,
  );

  test(
    'what was paid on the hosted page when the requests were gone is found by recovery',
    () => expectPaidOnce(paidOnPage, 150_000),
    TIME_LIMIT_MS,
  );

  test('a delivery that waits for its second attempt outlives all of that', async () => {
    const is_early = await deliverEarly(refusedOnce);
    await until('the second attempt', () => webhooksOf(refusedOnce).length >= 2);
    const attempts = receiver.received.filter(({ body }) => webhookOf(body).order_id === refusedOnce);
    expect(attempts[1]!.at - attempts[0]!.at >= 120_000).toBe(!is_early);
    expect(new Set(attempts.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  test('so does a redelivery, and a paused delivery, which is sent once it is resumed', async () => {
    const attemptsOf = async (n: number) =>
      (await operator.delivery(pausedOnce, n)).attempts.map(({ status_code }) => status_code);
    const isDelivered = (n: number) =>
      until('it is delivered', async () => (await operator.delivery(pausedOnce, n)).status === 'delivered');
    await deliverEarly(pausedOnce, 2);
    await isDelivered(2);
    expect([await attemptsOf(2), await attemptsOf(1)]).toEqual([[503, 200], [503]]);
    expect(await operator.ask('resumeDelivery', pausedOnce)).toBe('200 new');
    await deliverEarly(pausedOnce);
    await isDelivered(1);
    expect(await attemptsOf(1)).toEqual([503, 200]);
  });
});
