import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client as Temporal } from '@temporalio/client';
import { v5 as uuidv5 } from 'uuid';
import { requestHashes } from '../../api/http/idempotency';
import { setServerSettings } from '../../src/bench/server-settings';
import { cancelOrder, createOrder, type Order } from '../../src/client';
import { MERCHANT_API } from '../../src/contract/merchant-api';
import { parseRequest } from '../../src/contract/request';
import type { WebhookRecoveryAnswer } from '../../src/contract/webhook-recovery';
import { connectDatabase } from '../../src/db/connection';
import { queryColumn, queryRow, queryRows, type Database } from '../../src/db/query';
import { claimKey } from '../../src/db/requests/idempotency-keys';
import { ledgerDifferences } from '../../proofs/invariants/ledger';
import { recordRows, secrets } from '../support/database';
import {
  answerOf,
  Merchant,
  newIdempotencyKey,
  statusesOf,
  webhookOf,
  type RestAnswer,
  type RefusalName,
} from '../support/merchant';
import { controlSimulator, makeDue, outcomeInWords, refund, untilOrder } from '../support/merchant-payments';
import { createTestProject, Operator } from '../support/operator';
import { aFailedDelivery } from '../support/rows';
import { startReceiver } from '../support/servers';
import { setUp } from '../support/set-up';
import { idle, OwnStack } from '../support/stack';
import { temporalOf } from '../support/temporal-client';
import { sendUntilAnswered, until } from '../support/waits';
import { orderWorkflowId } from '../../workflows/messages';

/**
 * A dependency of the stack is unavailable while a customer's money moves. Each test says what the client was answered,
 * that the merchant was told of every change, and that the processor charged once; the last one compares record and
 * ledger.
 */
const receiver = setUp(startReceiver);
let merchant: Merchant;
let record: Database;
let temporal: Temporal;
/** Fewer than a test begins at once. */
const CHARGES_AT_ONCE = 2;
const own = new OwnStack(
  'outages',
  () => ({
    DEMO_WEBHOOK_URL: receiver.url,
    API_DEADLINE_MS: '4000',
    CHARGES_AT_ONCE: String(CHARGES_AT_ONCE),
    LOG_LEVEL: 'info',
  }),
  idle('codec'),
);

beforeAll(async () => {
  const stack = await own.start();
  merchant = new Merchant(stack);
  record = connectDatabase(stack.postgres_url, { pool_max: 2, quiet: true });
  temporal = temporalOf(stack);
});
afterAll(async () => {
  await record.destroy();
  await temporal.connection.close();
  await own.discard();
});

type OrderAnswer = RestAnswer<Order & { error: RefusalName }>;

/**
 * The processor answers so late that the test can act while it has the charge and nobody has its answer. Milliseconds.
 */
const SLOW_MS = 2_500;
/** For more than one charge: just short of the time limit of a call of the processor. */
const SLOWEST_MS = 3_500;
/** Temporal gives a task to another worker after six seconds. Milliseconds. */
const TASK_LOST_MS = 7_000;
const WITHIN_MS = 60_000;
/** Longer than a worker needs to stop without attempts, and close to the time limit of an attempt. Milliseconds. */
const LATE_WEBHOOK_MS = 9_000;

/** A sale by card token, which one client sends again under one key until it gets an answer. */
class Sale {
  readonly key = newIdempotencyKey();
  private constructor(
    private readonly transaction: Awaited<ReturnType<Merchant['cardTransaction']>>,
    private readonly fields: { description?: string },
    private readonly shop: Merchant,
    private readonly merchant_order_id = `sale-${newIdempotencyKey()}`,
  ) {}

  static async prepare(fields: { description?: string } = {}, shop = merchant): Promise<Sale> {
    return new Sale(await shop.cardTransaction('approved'), fields, shop);
  }

  request(amount = 1_250) {
    const { merchant_order_id, transaction, fields } = this;
    return { currency: 'EUR', amount, merchant_order_id, ...fields, transactions: [transaction] };
  }

  private call(amount?: number) {
    return createOrder({ idempotencyKey: this.key, orderRequest: this.request(amount) }, this.shop.project);
  }

  /** The answer to one request. */
  send(amount?: number): Promise<OrderAnswer> {
    return answerOf(this.call(amount));
  }

  /** The answer to one request that has no key. */
  sendWithoutKey(): Promise<OrderAnswer> {
    return answerOf(createOrder({ orderRequest: this.request() }, merchant.project));
  }

  /** The first answer that is neither 503 nor a broken connection. */
  sendUntilAnswered(): Promise<RestAnswer<Order>> {
    return sendUntilAnswered<Order>(() => this.call());
  }

  /** Sends it and returns once the processor has the charge; `answer` comes later. */
  async startCharge(milliseconds = SLOW_MS): Promise<{ answer: Promise<OrderAnswer> }> {
    const { vault_token } = this.transaction.payment_method_details;
    const fault = { operation: 'sale', vault_token, kind: 'latency', milliseconds, times: 1 } as const;
    const { hit } = await merchant.addFault(fault);
    const answer = this.send();
    answer.catch(() => undefined);
    await hit;
    return { answer };
  }

  /** The order as it is committed in the record; `undefined` when it is not. */
  async committed(): Promise<{ id: string; status: string } | undefined> {
    return await queryRow<{ id: string; status: string }>(
      record,
      'select id, status from orders where merchant_order_id = :merchant_order_id',
      { merchant_order_id: this.merchant_order_id },
    );
  }
}

/** The ids of the webhooks that arrived for the order, each once. */
const webhooksOf = (order_id: string) => [
  ...new Set(
    receiver.received
      .filter(({ body }) => webhookOf(body).order_id === order_id)
      .map(({ headers }) => String(headers['webhook-id'])),
  ),
];

/** Reads what a process of this stack logs from now on. */
function logOf(name: string): () => { msg: string }[] {
  const read = () => readFileSync(path.join(own.data_dir, 'logs', `${name}.log`), 'utf8');
  const before = read().length;
  return () =>
    read()
      .slice(before)
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as { msg: string });
}

/** Where the worker of this stack answers health checks: its log tells. */
function workerHealthUrl(): string {
  const log = readFileSync(path.join(own.data_dir, 'logs', 'worker.log'), 'utf8');
  return [...log.matchAll(/"health_url":"([^"]+)"/g)].at(-1)![1]!;
}

/** Completed with one charge at the processor; each move of the order was told under an id of its own. */
async function expectPaidOnce(id: string, shop = merchant): Promise<void> {
  expect(statusesOf(await shop.untilStatus(id, 'completed', WITHIN_MS))).toBe('completed: accepted');
  const ledger = await merchant.ledger(id);
  expect(ledger.map(({ operation, result, amount }) => `${operation} ${result} ${amount}`)).toEqual([
    'sale approved 1250',
  ]);
  const deliveries = await queryRows(record, 'select n from webhook_deliveries where order_id = :id', { id });
  expect(deliveries.length).toBeGreaterThan(0);
  await until(`every webhook of ${id}`, () => webhooksOf(id).length === deliveries.length, WITHIN_MS);
}

/** How many calls of the processor to charge the new order were tasks of their own. */
async function chargeTasksOf(id: string): Promise<number> {
  const { events } = await temporal.workflow.getHandle(orderWorkflowId(id)).fetchHistory();
  return (events ?? []).filter(
    (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'createAndCharge',
  ).length;
}

/** How often a test is tried whose charge a busy machine answers before the test has acted. */
const TRIES = 3;

/** An order is created, read and cancelled while the processor has more charges than CHARGES_AT_ONCE. */
async function otherOrderWhileCharging(): Promise<{ sales: Sale[]; answered: string[] }> {
  const sales = await Promise.all(Array.from({ length: 3 * CHARGES_AT_ONCE }, () => Sale.prepare()));
  const answered: string[] = [];
  const charges = await Promise.all(
    sales.map(async (sale) => {
      const { answer } = await sale.startCharge(SLOWEST_MS);
      return { charged: answer.then(() => answered.push('charge')) };
    }),
  );
  const { id } = await merchant.createOrder();
  answered.push('new order');
  answered.push(`${(await merchant.getOrder(id)).status} order is read`);
  answered.push(`${(await merchant.cancelOrder(id)).status} order`);
  await Promise.all(charges.map(({ charged }) => charged));
  return { sales, answered };
}

test('rules 10.20: a slow processor has more charges than CHARGES_AT_ONCE: an order is created, read and cancelled before one is answered', async () => {
  let { sales, answered } = await otherOrderWhileCharging();
  for (let tries = 1; tries < TRIES && answered.indexOf('charge') < 3; tries += 1) {
    ({ sales, answered } = await otherOrderWhileCharging());
  }
  expect(answered).toEqual(['new order', 'new order is read', 'cancelled order', ...sales.map(() => 'charge')]);
  const paid = await Promise.all(sales.map((sale) => sale.sendUntilAnswered()));
  for (const { body } of paid) await expectPaidOnce(body.id!);
  const tasks = await Promise.all(paid.map(({ body }) => chargeTasksOf(body.id!)));
  expect(tasks.toSorted((a, b) => a - b)).toEqual(sales.map((_, n) => Number(n >= CHARGES_AT_ONCE)));
});

test('the processor sends its notification twice at once, and again after the end: one change, one webhook', async () => {
  const order = await merchant.paidOrder('processing_approved');
  const transaction_id = order.transactions![0]!.id!;
  const [{ idempotency_key } = { idempotency_key: '' }] = await merchant.ledger(order.id);
  const notified = async () => {
    const sql = 'select sent from notifications where idempotency_key = :idempotency_key';
    const place = { postgres_url: merchant.stack.postgres_url, database: 'simulator' };
    const rows = await recordRows<{ sent: string | null }>(sql, { idempotency_key }, place);
    return rows.map(({ sent }) => sent !== null);
  };
  // Neither question is answered before both notifications are there.
  await merchant.addFault({ operation: 'ask', order_id: order.id!, kind: 'latency', milliseconds: 1_000, times: 2 });
  await makeDue(merchant, transaction_id);
  await controlSimulator(merchant, 'notifications', { idempotency_key });
  await expectPaidOnce(order.id!);
  const ended = await merchant.getOrder(order.id!);
  await controlSimulator(merchant, 'notifications', { idempotency_key });
  // Received: the processor sends again what is answered with anything else than 2xx.
  await until('all notifications are received', async () => (await notified()).every(Boolean), WITHIN_MS);
  expect(await notified()).toHaveLength(3);
  expect(await merchant.getOrder(order.id!)).toEqual(ended);
  await expectPaidOnce(order.id!);
});

/** A sale that is being charged, and the transaction that keeps its answer from being written under its key. */
async function saleWithoutAnswer() {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const sale = await Sale.prepare();
    const { answer } = await sale.startCharge();
    // Before the api sends the answer it writes it under the key, and waits for this lock.
    const holder = await record.transaction();
    const { rows } = (await holder.raw('select 1 from idempotency_keys where key = ? and status is null for update', [
      sale.key,
    ])) as { rows: object[] };
    if (rows.length === 1) return { sale, answer, holder };
    await holder.rollback();
  }
  throw new Error(`this machine does not take a lock within ${SLOW_MS} ms`);
}

test('the api is killed after the commit and before its answer: the repeat gets the order that was paid', async () => {
  const { sale, answer, holder } = await saleWithoutAnswer();
  await until('the payment is committed', async () => (await sale.committed())?.status === 'completed');
  await own.kill('api');
  await holder.rollback();
  await expect(answer).rejects.toThrow('fetch failed');
  await own.ready();
  const { status, body } = await sale.sendUntilAnswered();
  expect([status, statusesOf(body)]).toEqual([200, 'completed: accepted']);
  await expectPaidOnce(body.id!);
});

test('Postgres is restarted while the processor charges: the client gets the order, or 503 and then the order', async () => {
  const sale = await Sale.prepare();
  const { answer } = await sale.startCharge();
  await own.kill('postgres', 'SIGINT');
  const first = await answer;
  if (first.status !== 200) {
    expect([first.status, first.body.error.type, first.headers.get('retry-after')]).toEqual([503, 'ServerError', '1']);
  }
  const { status, body } = await sale.sendUntilAnswered();
  expect([status, ['new', 'processing', 'completed'].includes(body.status!)]).toEqual([200, true]);
  await expectPaidOnce(body.id!);
});

test('rules 2.7: Postgres is read-only: not ready with the cause, writes are 503, and go on without a restart', async () => {
  const sale = await Sale.prepare();
  const ready = async () => {
    const { status, body } = await merchant.send<{ error?: RefusalName }>('GET', '/health/ready');
    return [status, body.error?.value];
  };
  const setReadOnly = (value: string) => setServerSettings(record, { default_transaction_read_only: value });
  const logged = logOf('api');
  await setReadOnly('on');
  try {
    await until('it is not ready', async () => (await ready())[0] === 503);
    expect(await ready()).toEqual([503, 'Not ready: postgres is read-only.']);
    const [refused, keyless] = await Promise.all([sale.send(), sale.sendWithoutKey()]);
    expect([refused.status, refused.body.error.type, keyless.status]).toEqual([503, 'ServerError', 503]);
    expect(refused.headers.get('retry-after')).toBe('1');
    await until('the log names the cause', () => logged().some(({ msg }) => msg === 'Postgres is unavailable'));
  } finally {
    await setReadOnly('off');
  }
  expect(logged().map(({ msg }) => msg)).not.toContain('no worker answers in time');
  const { status, body } = await sale.sendUntilAnswered();
  expect([status, statusesOf(body)]).toEqual([200, 'completed: accepted']);
  await expectPaidOnce(body.id!);
  expect(await ready()).toEqual([200, undefined]);
});

test('rules 24.6: Temporal is away while the processor charges: reads and the return from the issuer go on, new orders are 503, and both are paid once when it is back', async () => {
  const [before, during] = [await Sale.prepare(), await Sale.prepare()];
  const readinessOfWorker = async () => (await fetch(`${workerHealthUrl()}/health/ready`)).status;
  expect(await readinessOfWorker()).toBe(200);
  const asked = await merchant.paidOrder('challenge');
  const { answer } = await before.startCharge();
  await own.without('temporal', async () => {
    const stopped_at = Date.now();
    const refused = await during.send();
    expect([refused.status, refused.body.error.type, refused.headers.get('retry-after')]).toEqual([
      503,
      'ServerError',
      '1',
    ]);
    // The worker finishes the charge it has begun. The api hears nothing of it, and answers with the order as it is
    // stored.
    const { status, body } = await answer;
    expect(status).toBe(200);
    expect(statusesOf(await merchant.untilStatus(body.id!, 'completed'))).toBe('completed: accepted');
    const health = await fetch(`${merchant.stack.api_url}/health/ready`);
    expect([health.status, await health.json()]).toEqual([
      200,
      { status: 'degraded', checks: { postgres: 'ok', temporal: 'unavailable' } },
    ]);
    expect(await readinessOfWorker()).toBe(503);
    const back = `${merchant.stack.api_url}/pay/${asked.id}/${asked.transactions![0]!.id}/?from=issuer`;
    const returned = await fetch(back);
    expect([returned.status, await returned.text()]).toEqual([200, expect.stringContaining('Your bank wants')]);
    // What the worker was doing is given to another one.
    await sleep(Math.max(0, stopped_at + TASK_LOST_MS - Date.now()));
  });
  for (const sale of [before, during]) {
    const { status, body } = await sale.sendUntilAnswered();
    expect([status, statusesOf(body)]).toEqual([200, 'completed: accepted']);
    await expectPaidOnce(body.id!);
  }
});

test('rules 13.5: the worker is told to stop while receivers take their time: each attempt ends, and is not made again', async () => {
  const operator = await Operator.signIn(merchant.stack);
  const attemptsAt = (id: string) => receiver.received.filter(({ body }) => webhookOf(body).order_id === id).length;
  const attemptsOf = async (id: string) => (await operator.delivery(id)).attempts.map(({ status_code }) => status_code);
  /** An order whose first webhook was refused, after so many milliseconds. */
  const refused = async (after_ms: number) => {
    receiver.answer((response) => void setTimeout(() => response.writeHead(500).end(), after_ms));
    const { id } = await merchant.paidOrder('approved');
    await until('the attempt is recorded', async () => (await attemptsOf(id)).length === 1);
    return id;
  };
  try {
    // The next attempt is a task of its own for one, a part of a workflow task for the other.
    const orders = [await refused(1_500), await refused(0)];
    receiver.answer((response) => void setTimeout(() => response.writeHead(200).end(), LATE_WEBHOOK_MS));
    await Promise.all(orders.map((id) => operator.ask('deliverNow', id)));
    await until('both attempts are under way', () => orders.every((id) => attemptsAt(id) === 2));
    const pid = own.pid('worker');
    process.kill(pid, 'SIGTERM');
    await until('another worker runs', () => own.pid('worker') !== pid);
    for (const id of orders) {
      await until('it is delivered', async () => (await operator.delivery(id)).status === 'delivered');
      expect([await attemptsOf(id), attemptsAt(id)]).toEqual([[500, 200], 2]);
    }
  } finally {
    receiver.answer((response) => response.writeHead(200).end());
  }
});

/** The workflow of an order that is created with a key. */
async function workflowIdOf(key: string, shop: Merchant): Promise<string> {
  const { id } = await shop.getProject();
  const [row] = await queryRows<{ id_namespace: string }>(record, 'select id_namespace from projects where id = :id', {
    id,
  });
  return orderWorkflowId(uuidv5(`order:${key}`, row!.id_namespace));
}

/** Every worker stands still: requests reach Temporal, and nothing is done. */
describe('no worker', () => {
  const withoutWorker = <T>(work: () => Promise<T>) => own.without('worker', work);
  const running = async () => {
    const ids: string[] = [];
    const query = "WorkflowType = 'order' AND ExecutionStatus = 'Running'";
    for await (const { workflowId } of temporal.workflow.list({ query })) ids.push(workflowId);
    return ids;
  };
  const orders = async () => await queryColumn<string>(record, 'select id from orders order by id');

  test('without a key: a request that was not answered in time is neither stored nor charged afterwards', async () => {
    const sale = await Sale.prepare();
    // The search for workflows lags behind: one of the test before may still be in it.
    const earlier = new Set(await running());
    const late = async () => (await running()).filter((id) => !earlier.has(id));
    const [before, charges] = [await orders(), await merchant.ledger()];
    const { status, headers, body } = await withoutWorker(async () => {
      const answer = await sale.sendWithoutKey();
      await until('its workflow waits', async () => (await late()).length > 0);
      return answer;
    });
    expect([status, headers.get('retry-after'), body.error.type]).toEqual([503, '1', 'ServerError']);
    await until('its workflow is over', async () => (await late()).length === 0, 90_000);
    expect([await orders(), await merchant.ledger()]).toEqual([before, charges]);
    await until('it can be sent again', async () => (await sale.sendWithoutKey()).status === 200);
  });

  describe('rules 11.6: with a key, and before the repeat', () => {
    /** Changes the project; the result changes it back. Each returns once the API knows it. */
    async function change(shop: Merchant, columns: string): Promise<() => Promise<void>> {
      const before = await shop.getProject();
      const write = async (sql: string, is_changed: boolean) => {
        await record.raw(`update projects set ${sql} where id = ?`, [before.id]);
        const isKnown = async () => JSON.stringify(await shop.getProject()) !== JSON.stringify(before);
        await until('the API knows it', async () => (await isKnown()) === is_changed);
      };
      await write(columns, true);
      const methods = `payment_methods = '{${before.payment_methods!.join()}}'`;
      return () => write(`status = 'active', suspended_by = null, ${methods}`, false);
    }
    const OBSTACLES: Record<string, (shop: Merchant, sale: Sale) => Promise<() => Promise<void>>> = {
      'nothing else happens': async () => () => Promise.resolve(),
      // The worker may have had its task when it was stopped, and writes the order afterwards: then a second one takes it
      // over.
      async 'its first workflow is terminated'(shop, sale) {
        const workflow_id = await workflowIdOf(sale.key, shop);
        await temporal.workflow.getHandle(workflow_id).terminate('as if its creation had been lost');
        return () => Promise.resolve();
      },
      'its project is suspended': (shop) => change(shop, `status = 'suspended', suspended_by = 'operator'`),
      'its payment method is switched off': (shop) =>
        change(shop, `payment_methods = array_remove(payment_methods, 'credit-card')`),
      async 'the vault is away'(shop) {
        await shop.addFault({ operation: 'vault', project_id: (await shop.getProject()).id, kind: 'outage' });
        return () => shop.removeFaults();
      },
    };

    test(`${Object.keys(OBSTACLES).join(', ')}: the repeat gets the one order, charged once`, async () => {
      const sales = await Promise.all(
        Object.entries(OBSTACLES).map(async ([what, begin]) => {
          const { merchant: shop } = await createTestProject({ webhook_url: receiver.url }, merchant.stack);
          return { what, begin, shop, sale: await Sale.prepare({}, shop) };
        }),
      );
      const ends: (() => Promise<void>)[] = [];
      try {
        const repeats = await withoutWorker(() =>
          Promise.all(
            sales.map(async ({ what, begin, shop, sale }) => {
              const first = await sale.send();
              ends.push(await begin(shop, sale));
              return [first, await sale.send()].map((answer) => ({ what, ...answer }));
            }),
          ),
        );
        for (const { what, status, headers, body } of repeats.flat()) {
          expect([what, status, body.error.type, headers.get('retry-after')]).toEqual([what, 503, 'ServerError', '1']);
          expect(body.error.value).not.toMatch('nothing was stored');
        }
        for (const { what, shop, sale } of sales) {
          expect([what, (await sale.send(1)).status]).toEqual([what, 422]);
          const { status, body } = await sale.sendUntilAnswered();
          expect([what, status, statusesOf(body)]).toEqual([what, 200, 'completed: accepted']);
          await expectPaidOnce(body.id!, shop);
          const { id: project_id } = await shop.getProject();
          const made = await queryRows(record, 'select id from orders where project_id = :project_id', { project_id });
          expect([what, made]).toEqual([what, [{ id: body.id }]]);
        }
      } finally {
        await Promise.all(ends.map((end) => end()));
      }
    });
  });

  test('rules 11.6: with a key whose first run left nothing: a project that is suspended since refuses it', async () => {
    const sale = await Sale.prepare();
    const { id } = await merchant.getProject();
    // The api was killed after it had claimed the key, before it called Temporal.
    const route = MERCHANT_API.routes.createOrder;
    const body = sale.request();
    const [request_hash] = requestHashes(secrets, route, parseRequest(route, { params: {}, query: {}, body }), body);
    await claimKey(record, { owner_id: id, key: sale.key, request_hash: request_hash! }, Date.now());
    const suspend = (columns: string) => record.raw(`update projects set ${columns} where id = ?`, [id]);
    await suspend(`status = 'suspended', suspended_by = 'operator'`);
    try {
      await until('the API knows it', async () => (await merchant.getProject()).status === 'suspended');
      // Its first run may not have started yet.
      const early = await sale.send();
      expect([early.status, early.headers.get('retry-after')]).toEqual([503, '1']);
      await record.raw(`update idempotency_keys set created = created - interval '2 minutes' where key = ?`, [
        sale.key,
      ]);
      expect((await sale.send()).status).toBe(403);
    } finally {
      await suspend(`status = 'active', suspended_by = null`);
      await until('the API knows it', async () => (await merchant.getProject()).status !== 'suspended');
    }
    // Nothing was kept.
    const paid = await sale.sendUntilAnswered();
    expect([paid.status, statusesOf(paid.body)]).toEqual([200, 'completed: accepted']);
    await expectPaidOnce(paid.body.id!);
  });

  test('rules 11.6: with a key whose answer was not kept, and an order that goes on in a new run: a project that is suspended since gets the order', async () => {
    const { id } = await merchant.getProject();
    const headers = { 'idempotency-key': newIdempotencyKey() };
    const create = () =>
      merchant.send<Order>('POST', '/v1/orders/', { body: { currency: 'EUR', amount: 1_250 }, headers });
    const { body: order } = await create();
    await temporal.workflow.getHandle(orderWorkflowId(order.id)).terminate();
    const advance = { body: { advance: 'PT1M' }, headers: { 'idempotency-key': newIdempotencyKey() } };
    expect((await merchant.send('POST', `/v1/orders/${order.id}/test-clock/`, advance)).status).toBe(200);
    const forget = `update idempotency_keys set status = null, body = null, object_id = null, version = null, created = created - interval '2 minutes' where key = ?`;
    await record.raw(forget, [headers['idempotency-key']]);
    await record.raw(`update projects set status = 'suspended', suspended_by = 'operator' where id = ?`, [id]);
    try {
      await until('the API knows it', async () => (await merchant.getProject()).status === 'suspended');
      const { status, body } = await create();
      expect([status, body.id, body.status]).toEqual([200, order.id, 'new']);
    } finally {
      await record.raw(`update projects set status = 'active', suspended_by = null where id = ?`, [id]);
      await until('the API knows it', async () => (await merchant.getProject()).status !== 'suspended');
    }
  });

  test('an answer that does not show that the order is cancelled or its clock advanced is not kept: the repeat does it', async () => {
    const [order, advanced, link] = await Promise.all([
      merchant.createOrder({}),
      merchant.createOrder({}),
      merchant.createPaymentLink(),
    ]);
    const idempotencyKey = newIdempotencyKey();
    const cancelWithKey = () => cancelOrder({ orderId: order.id, idempotencyKey }, merchant.project);
    const advances = [`/v1/orders/${advanced.id}`, `/v1/paymentlinks/${link.id}`].map((path) => {
      const headers = { 'idempotency-key': newIdempotencyKey() };
      const request = { body: { advance: 'PT1M' }, headers };
      return () => merchant.send<{ test_clock?: string }>('POST', `${path}/test-clock/`, request);
    });
    const [unknown, ...unknown_clocks] = await withoutWorker(() =>
      Promise.all([answerOf<Order>(cancelWithKey()), ...advances.map((advance) => advance())] as const),
    );
    expect([unknown.status, unknown.body.status]).toEqual([200, 'new']);
    for (const { status, body } of unknown_clocks) expect([status, body.test_clock]).toEqual([200, undefined]);

    const answer = await sendUntilAnswered<Order>(cancelWithKey);
    expect([answer.status, answer.body.status]).toEqual([200, 'cancelled']);
    expect((await answerOf<Order>(cancelWithKey())).body).toEqual(answer.body);
    for (const advance of advances) {
      const { status, body } = await sendUntilAnswered<{ test_clock?: string }>(advance);
      expect([status, typeof body.test_clock]).toEqual([200, 'string']);
    }
  });
});

/** A COMMIT hangs beyond the deadline of the API and the time limit of the worker's statement. Seconds. */
const COMMIT_SECONDS = 10;
const HANGS = 'The COMMIT of this order hangs.';

describe('rules 10.5, 10.8: a 503 says that nothing was stored only where that stays true', () => {
  const promised = ({ status, headers, body }: RestAnswer<{ error: RefusalName }>) => [
    status,
    headers.get('retry-after'),
    /nothing was stored/.test(body.error.value),
  ];

  // As when the disk or a standby is away: the statements have passed, and statement_timeout does not end the COMMIT.
  beforeAll(async () => {
    await record.raw(`
      create function hang() returns trigger language plpgsql as
        $$ begin perform pg_sleep(${COMMIT_SECONDS}); return null; end $$;
      create constraint trigger hang after insert on orders deferrable initially deferred
        for each row when (new.description = '${HANGS}') execute function hang();`);
  });

  test('the COMMITs of a refund and of a sale hang: 503 without the promise, and both are there once they end', async () => {
    const order = await merchant.paidOrder('approved', { amount: 10_000 });
    const sale = await Sale.prepare({ description: HANGS });
    const answers = await Promise.all([
      refund(merchant, order, { amount: 4_000, description: HANGS }),
      sale.sendWithoutKey(),
    ]);
    expect(answers.map(promised)).toEqual(Array(2).fill([503, null, false]));
    // The merchant who looks finds one refund.
    const { refunded_amount } = await untilOrder(merchant, order, 'is refunded', (one) => 'refunded_amount' in one);
    expect(refunded_amount).toBe(4_000);
    const { id } = await until('the order is committed', async () => (await sale.committed()) ?? false);
    await expectPaidOnce(id);
  });

  test('the payment is locked beyond the deadline: 503 with the promise, and nothing is refunded afterwards', async () => {
    const order = await merchant.paidOrder('approved', { amount: 10_000 });
    const holder = await record.transaction();
    await holder.raw('select 1 from orders where id = ? for update', [order.id]);
    const answer = await refund(merchant, order, { amount: 4_000 });
    await holder.rollback();
    expect(promised(answer)).toEqual([503, '1', true]);
    const query = `RelatedOrderId = '${order.id}'`;
    const statuses = async () => {
      const found: string[] = [];
      for await (const { status } of temporal.workflow.list({ query })) found.push(status.name);
      return found;
    };
    // Its webhooks have workflows of their own.
    await until('the workflow of the refund is over', async () => !(await statuses()).includes('RUNNING'), WITHIN_MS);
    expect((await merchant.getOrder(order.id)).related_orders ?? []).toEqual([]);
    expect(outcomeInWords(await refund(merchant, order, { amount: 4_000 }))).toEqual([200, 'completed']);
  });
});

/** More than a recovery sends at once. */
const FAILED_ORDERS = 40;

test(`rules 13.16, 13.17: of ${FAILED_ORDERS} orders each is told once, under the first id, although the worker is killed meanwhile`, async () => {
  const { id: project_id, merchant: shop } = await createTestProject({ webhook_url: receiver.url }, merchant.stack);
  const ids: string[] = [];
  while (ids.length < FAILED_ORDERS) {
    const { order_id } = await aFailedDelivery(record, receiver.url, { project_id, now: Date.now() });
    ids.push(order_id);
  }
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const recover = async () =>
    (await shop.send<WebhookRecoveryAnswer>('POST', '/v1/webhooks/recover/', { body: { since } })).body;
  const untilCompleted = (id: string) =>
    until('the recovery is completed', async () => {
      const { body } = await shop.send<WebhookRecoveryAnswer>('GET', `/v1/webhooks/recoveries/${id}/`);
      return body.status === 'completed' && body;
    });
  const { id, remaining } = await recover();
  expect(remaining).toBe(FAILED_ORDERS);
  await until('some are told', () => ids.filter((one) => webhooksOf(one).length > 0).length >= 15);
  await own.kill('worker');
  expect(await untilCompleted(id)).toMatchObject({ remaining: 0, sent: FAILED_ORDERS, delivered: FAILED_ORDERS });
  // An attempt that the kill interrupted is made again.
  expect(ids.map((one) => webhooksOf(one))).toEqual(ids.map((one) => [`webhook:${one}:1`]));
  const deliveries = await queryRows(record, 'select 1 from webhook_deliveries where recovery_id = :id', { id });
  expect(deliveries).toHaveLength(FAILED_ORDERS);
  // Nothing is left for a second one.
  expect((await untilCompleted((await recover()).id)).sent).toBe(0);
});

test('after all of that the ledger of the processor equals the record', async () => {
  expect(await ledgerDifferences(merchant.stack)).toEqual([]);
});
