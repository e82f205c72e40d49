import { MockActivityEnvironment } from '@temporalio/testing';
import { v7 as uuidv7 } from 'uuid';
import { eraseNext, erasePage } from '../../activities/erasure';
import { chargeAttempt, createAndCharge } from '../../activities/order';
import type { ActivityServices } from '../../activities/services';
import { beginRestore, endRestore, holdErasures } from '../../src/db/backups/restores';
import { ERASURES_MAX, findErasure, insertErasure, reopenErasure } from '../../src/db/retention/erasures';
import { insertFollowUp } from '../../src/db/orders/follow-ups';
import { findStoredOrder } from '../../src/db/orders/stored-order';
import { claimKey, findKey, keepAnswer } from '../../src/db/requests/idempotency-keys';
import type { ErasureField } from '../../src/domain/retention';
import type { NewOrder } from '../../src/domain/new-order';
import type { OrderSnapshot } from '../../src/domain/order-snapshot';
import { orderWorkflowId, type ErasureInput } from '../../workflows/messages';
import { toIsoTime } from '../../src/time';
import { createTestDatabase, untilLocked } from '../support/database';
import { MINUTE, NOW, PROJECT, aCharge, aRequest, aTransaction } from '../support/domain';
import { aFollowUp, aStoredOrder, anAcceptedPayment } from '../support/rows';
import { setUp } from '../support/set-up';
import { NOBODY } from '../support/shapes';

const database = setUp(() => createTestDatabase());
/** What the activity asks of Temporal; a failure is that of a deletion. */
const noIds = (): string[] => [];
let [deleted, resumed, running, refused, unwritten] = [noIds(), noIds(), noIds(), noIds(), noIds()];
let failure: Error | undefined;
/** What happens once while a history is deleted. */
let meanwhile: (() => Promise<unknown>) | undefined;
const services = () =>
  ({
    db: database.db,
    workflows: {
      histories: {
        delete: async (id: string) => {
          if (failure) throw failure;
          const happens = meanwhile;
          meanwhile = undefined;
          await happens?.();
          deleted.push(id);
          return running.includes(id);
        },
        closedFollowUps: async () => refused,
        async *refusedOrders(_project_id: string, onRead: () => void) {
          for (const workflow_id of unwritten) {
            onRead();
            yield workflow_id;
          }
        },
      },
      orders: { resume: async ({ order_id }: { order_id: string }) => void resumed.push(order_id) },
      follow_ups: { start: async ({ id }: { id: string }) => void resumed.push(id) },
    },
  }) as unknown as ActivityServices;
beforeEach(() => {
  [deleted, resumed, running, refused, unwritten, failure] = [[], [], [], [], [], undefined];
});

const CUSTOMER = { merchant_customer_id: 'C-1', email_address: 'Ada@Shop.example', first_name: 'Ada' };
const order = (over: Partial<NewOrder> = {}) =>
  aStoredOrder(database.db, {
    customer: CUSTOMER,
    extra: { note: 'Ada' },
    order_lines: [{ name: 'A ring for Ada' }],
    description: 'Ring for Ada',
    merchant_order_id: 'M-1',
    transaction: { payment_method_details: { truncated_pan: '411111******1111', cardholder_name: 'Ada' } },
    ...over,
  });

async function requestErasure(field: ErasureField, value: string): Promise<ErasureInput> {
  const erasure = { id: uuidv7(), project_id: PROJECT.id, field, value };
  const { subject } = await database.db.transaction((trx) => insertErasure(trx, erasure, new Date(NOW)));
  expect(subject).toMatch(/:[0-9a-f-]{36,64}$/);
  return { erasure_id: erasure.id, project_id: PROJECT.id, subject };
}
async function carryOut(input: ErasureInput): Promise<void> {
  while (await erasePage(services(), input));
}
async function erase(field: ErasureField, value: string): Promise<string> {
  const input = await requestErasure(field, value);
  await carryOut(input);
  return input.erasure_id;
}
const of = async (id: string) => (await findErasure(database.db, id))!;
/** Without ids, whose letters may spell a name. */
const shown = async (id: string) =>
  JSON.stringify(await findStoredOrder(database.db, id)).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '');

test('rules 29.6: while a restored record is compared with the histories nothing is erased and none is deleted', async () => {
  const { db } = database;
  const { id } = await order();
  const input = await requestErasure('merchant_customer_id', 'C-1');
  const restore = await db.transaction((trx) => beginRestore(trx, uuidv7(), NOW, new Date()));
  const refused = { type: 'RestoreUnderWay', nonRetryable: false };
  try {
    await expect(erasePage(services(), input)).rejects.toMatchObject(refused);
    await holdErasures(db, false);
    await holdErasures(db, true);
    await expect(erasePage(services(), input)).rejects.toMatchObject(refused);
    expect([deleted, (await findStoredOrder(db, id))!.customer]).toEqual([[], CUSTOMER]);
    await holdErasures(db, false);
    await carryOut(input);
  } finally {
    await db.transaction((trx) => endRestore(trx, restore, new Date()));
  }
  expect([deleted, (await findStoredOrder(db, id))!.customer]).toEqual([[orderWorkflowId(id)], null]);
});

test.each<[ErasureField, string]>([
  ['merchant_customer_id', 'C-1'],
  ['email_address', 'aDA@shop.EXAMPLE'],
])('rules 29.3, 29.4: the orders of a customer named by %s are erased, no others', async (field, value) => {
  const [{ id }, other] = [await order(), await order({ customer: { ...CUSTOMER, [field]: 'ada-2' } })];
  const before = (await findStoredOrder(database.db, id))!;
  const erasure = await erase(field, value);
  expect(await of(erasure)).toMatchObject({ orders: 1, completed: expect.any(String) });
  expect(await shown(id)).not.toMatch(/ada|ring/i);
  const after = (await findStoredOrder(database.db, id))!;
  const erased = { customer: null, extra: null, order_lines: null, description: null };
  expect(after).toEqual({
    ...before,
    ...erased,
    version: before.version + 1,
    modified: expect.any(String),
    transactions: [{ ...before.transactions[0]!, payment_method_details: { truncated_pan: '411111******1111' } }],
  });
  expect(await shown(other.id)).toMatch(/Ring for Ada/);
  expect((await of(await erase(field, value))).orders).toBe(0);
  await database.db('orders').update({ customer: null });
});

test('rules 29.5: the histories of orders that were refused at their creation are deleted, of recorded ones kept', async () => {
  const other = await order();
  unwritten = [orderWorkflowId(NOBODY), orderWorkflowId(other.id)];
  await erase('email_address', 'another@shop.example');
  expect(deleted).toEqual([orderWorkflowId(NOBODY)]);
  await database.db('orders').update({ customer: null });
});

test.each([
  ['Jürgen@Shop.example', 'JÜRGEN@shop.example'],
  ['JÜRGEN@SHOP.EXAMPLE', 'jürgen@shop.example'],
  ['ΟΔΟΣ@shop.example', 'οδος@shop.example'],
])(
  'rules 29.3: orders with the email address %s are erased for %s, those with other letters are not',
  async (of_order, of_request) => {
    const { id } = await order({ customer: { ...CUSTOMER, email_address: of_order } });
    const others = ['jurgen@shop.example', 'odos@shop.example'];
    for (const email_address of others) await order({ customer: { ...CUSTOMER, email_address } });
    expect((await of(await erase('email_address', of_request))).orders).toBe(1);
    expect(await shown(id)).not.toMatch(/ada|ring/i);
    await database.db('orders').update({ customer: null });
  },
);

test('rules 29.3: orders beyond a page of a thousand are found, and orders of other projects are not looked at', async () => {
  const { id } = await order();
  await database.db.raw(
    `insert into orders (id, project_id, clock_id, kind, currency, amount, status, attempts_max, charged_by, expiration_period, expires_at, created, modified)
     select gen_random_uuid(), :project, gen_random_uuid(), 'payment', 'EUR', 1, 'new', 1, 'customer', 'PT30M', :at, :at, :at
     from generate_series(1, 1200)`,
    { project: PROJECT.id, at: toIsoTime(NOW) } as never,
  );
  const last = await order();
  expect((await of(await erase('merchant_customer_id', 'C-1'))).orders).toBe(2);
  for (const one of [id, last.id]) expect(await shown(one)).not.toMatch(/ada/i);
});

test('rules 29.3: a customer whom only an order that follows names is found there', async () => {
  const payment = await anAcceptedPayment(database.db);
  const refunds = [uuidv7(), uuidv7()].map((id) => aFollowUp(payment, { id, kind: 'refund', amount: 40 }));
  for (const refund of refunds) await insertFollowUp(database.db, refund);
  const ids = refunds.map(({ id }) => id);
  await database.db('orders').whereIn('id', ids).update({ customer: CUSTOMER });
  expect((await of(await erase('merchant_customer_id', 'C-1'))).orders).toBe(1);
  for (const id of ids) expect(await shown(id)).not.toMatch(/ada/i);
});

test('rules 29.3: a customer whom an order that follows another customer’s payment names goes without that payment', async () => {
  const payment = await anAcceptedPayment(database.db);
  const refund = aFollowUp(payment, { kind: 'refund', amount: 40 });
  await insertFollowUp(database.db, refund);
  const nameAs = (id: string, merchant_customer_id: string) =>
    database
      .db('orders')
      .where({ id })
      .update({ customer: { ...CUSTOMER, merchant_customer_id } });
  await nameAs(payment.id, 'C-2');
  await nameAs(refund.id, 'C-1');
  await erase('merchant_customer_id', 'C-1');
  expect([await shown(payment.id), await shown(refund.id)]).toEqual([
    expect.stringMatching(/ada/i),
    expect.not.stringMatching(/ada/i),
  ]);
  await database.db('orders').update({ customer: null });
});

test('rules 29.5: an order that holds reserved money goes on, also if an earlier try has ended its run; a captured one does not', async () => {
  const [held, captured] = [
    await anAcceptedPayment(database.db, { mode: 'manual' }),
    await anAcceptedPayment(database.db),
  ];
  for (const { id } of [held, captured]) await erase('order_id', id);
  expect(resumed).toEqual([held.id]);
});

test('rules 29.4, 29.5: what follows an order goes with it, and answers kept about them; open workflows go on', async () => {
  const payment = await anAcceptedPayment(database.db);
  const refund = aFollowUp(payment, { kind: 'refund', amount: 40, description: 'For Ada', extra: { a: 'Ada' } });
  await insertFollowUp(database.db, refund);
  const key = { owner_id: PROJECT.id, key: 'a-refund' };
  await claimKey(database.db, { ...key, request_hash: Buffer.from('x') }, NOW);
  await keepAnswer(database.db, key, { status: 200, body: { id: refund.id, description: 'For Ada' } });
  running = [orderWorkflowId(refund.id)];
  await erase('order_id', payment.id);
  expect(deleted).toEqual([orderWorkflowId(payment.id), orderWorkflowId(refund.id)]);
  expect(resumed).toEqual([refund.id]);
  for (const { id } of [payment, refund]) expect(await shown(id)).not.toMatch(/ada|two tickets/i);
  expect(await findKey(database.db, key)).toMatchObject({ answered: { object_id: refund.id } });
  expect((await findStoredOrder(database.db, payment.id))!.transactions[0]).toMatchObject({
    amount: 100,
    refund_pending_amount: 40,
    payment_method_details: { vault_token: 'tok', truncated_pan: '411111******1111' },
  });
});

test('rules 29.4: a follow-up order that is written while histories are deleted is erased too', async () => {
  const payment = await anAcceptedPayment(database.db);
  const refund = aFollowUp(payment, { kind: 'refund', amount: 40, description: 'For Ada' });
  meanwhile = () => insertFollowUp(database.db, refund);
  const erasure = await erase('order_id', payment.id);
  expect(deleted).toEqual([orderWorkflowId(payment.id), orderWorkflowId(refund.id)]);
  for (const { id } of [payment, refund]) expect(await shown(id)).not.toMatch(/ada|two tickets/i);
  expect((await of(erasure)).orders).toBe(1);
});

test('rules 29.4, 29.5: a follow-up order that is written while histories are deleted is erased by the retry after a failure', async () => {
  const payment = await anAcceptedPayment(database.db);
  await database
    .db('orders')
    .where({ id: payment.id })
    .update({ customer: JSON.stringify(CUSTOMER) });
  const refund = aFollowUp(payment, { kind: 'refund', amount: 40, description: 'For Ada' });
  meanwhile = async () => {
    await insertFollowUp(database.db, refund);
    failure = new Error('Temporal is away');
  };
  const erasure = await requestErasure('merchant_customer_id', 'C-1');
  await expect(carryOut(erasure)).rejects.toThrow('Temporal is away');
  failure = undefined;
  await carryOut(erasure);
  for (const { id } of [payment, refund]) expect(await shown(id)).not.toMatch(/ada|two tickets/i);
  expect(deleted).toContain(orderWorkflowId(refund.id));
  expect(await of(erasure.erasure_id)).toMatchObject({ orders: 1, completed: expect.any(String) });
});

test('rules 29.5: a follow-up order that is written when all histories are deleted is erased with its history', async () => {
  const payment = await anAcceptedPayment(database.db);
  const refund = aFollowUp(payment, { kind: 'refund', amount: 40, description: 'For Ada' });
  const erasure = await requestErasure('order_id', payment.id);
  const writing = await database.db.transaction();
  await insertFollowUp(writing, refund);
  const erased = carryOut(erasure);
  await untilLocked('the erasure waits for the payment', database.db);
  await writing.commit();
  await erased;
  expect(deleted).toEqual([orderWorkflowId(payment.id), orderWorkflowId(refund.id)]);
  for (const { id } of [payment, refund]) expect(await shown(id)).not.toMatch(/ada|two tickets/i);
});

test('rules 29.5: the histories of follow-up orders without a record go too; one that has a record by then goes on', async () => {
  const payment = await anAcceptedPayment(database.db);
  const refund = aFollowUp(payment, { kind: 'refund', amount: 40, description: 'For Ada' });
  refused = [orderWorkflowId(NOBODY), orderWorkflowId(refund.id)];
  const erasure = await requestErasure('order_id', payment.id);
  running = [orderWorkflowId(refund.id)];
  meanwhile = () => insertFollowUp(database.db, refund);
  await carryOut(erasure);
  expect(deleted).toEqual([payment.id, NOBODY, refund.id, refund.id].map(orderWorkflowId));
  expect(resumed).toEqual([refund.id]);
});

const CARD_OF_ADA = { vault_token: 'tok', truncated_pan: '411111******1111', cardholder_name: 'Ada' };

test.each<[string, (charging: ActivityServices) => Promise<OrderSnapshot>]>([
  [
    'by card token',
    async (charging) => {
      const { order: of_ada, transaction, ...input } = aCharge('tok');
      return await createAndCharge(charging, {
        ...input,
        order: { ...of_ada, customer: CUSTOMER, description: 'Ring for Ada' },
        transaction: { ...transaction, payment_method_details: CARD_OF_ADA },
        now: NOW,
      });
    },
  ],
  [
    'on the page',
    async (charging) => {
      const of_ada = await order();
      return await chargeAttempt(charging, {
        request: aRequest(),
        project_id: PROJECT.id,
        is_test: true,
        order: of_ada,
        transaction: { ...aTransaction(of_ada.id), payment_method_details: CARD_OF_ADA, period: 30 * MINUTE },
        now: NOW,
      });
    },
  ],
])('rules 29.5: a charge %s that is answered after the erasure does not write the name again', async (_title, pay) => {
  const { id, status } = await pay({
    ...services(),
    processor: {
      async execute() {
        await erase('merchant_customer_id', 'C-1');
        return { result: 'approved', occurred: toIsoTime(NOW) };
      },
    },
  } as unknown as ActivityServices);
  expect(status).toBe('completed');
  expect(await shown(id)).not.toMatch(/ada|ring/i);
  expect((await findStoredOrder(database.db, id))!.transactions[0]!.payment_method_details).toEqual({
    vault_token: 'tok',
    truncated_pan: '411111******1111',
  });
});

test('rules 29.6: an order that a restored record lacks is passed over', async () => {
  expect(await of(await erase('order_id', uuidv7()))).toMatchObject({ orders: 0, completed: expect.any(String) });
});

test('rules 29.5: a failure before the record was changed leaves the customer there to be found again', async () => {
  const { id } = await order();
  failure = new Error('Temporal is away');
  await expect(erase('merchant_customer_id', 'C-1')).rejects.toThrow('Temporal is away');
  expect(await shown(id)).toMatch(/Ring for Ada/);
  failure = undefined;
  expect((await of(await erase('merchant_customer_id', 'C-1'))).orders).toBe(1);
  expect(resumed).toEqual([id]);
});

test('rules 29.6: opened again after a restore it begins with the first order, also beside a page; not if it had ended before', async () => {
  const [{ id }, input] = [await order(), await requestErasure('merchant_customer_id', 'C-1')];
  const reopen = (completed_before: number) =>
    reopenErasure(database.db, input.erasure_id, { completed_before, now: NOW });
  let lost: OrderSnapshot | undefined;
  meanwhile = async () => {
    // The reconciliation writes again what the record lost, after the page was read.
    lost = await order();
    await reopen(NOW);
  };
  await carryOut(input);
  for (const one of [id, lost!.id]) expect(await shown(one)).not.toMatch(/ada/i);
  const ended = await of(input.erasure_id);
  expect(ended).toMatchObject({ orders: 2, completed: expect.any(String) });
  await reopen(NOW + MINUTE);
  expect(await of(input.erasure_id)).toEqual(ended);
});

test('rules 29.3: a worker carries out one erasure of a project at a time; another waits for its place', async () => {
  const next = (input: ErasureInput) => new MockActivityEnvironment().run(() => eraseNext(services(), input));
  const [first, second] = [
    await requestErasure('order_id', (await order()).id),
    await requestErasure('order_id', uuidv7()),
  ];
  const busy = { type: 'WorkerIsBusy', nextRetryDelay: expect.any(Number) };
  meanwhile = () => expect(next(second)).rejects.toMatchObject(busy);
  await expect(next(first)).resolves.toEqual({ orders: 1, is_completed: true });
  expect(deleted).toHaveLength(1);
  await expect(next(second)).resolves.toEqual({ orders: 0, is_completed: true });
});

test('rules 29.3: while a hundred erasures of a project run, another is a Conflict', async () => {
  await database.db.raw('update erasures set completed = modified where completed is null');
  const running_ones = await Promise.all(
    Array.from({ length: ERASURES_MAX }, () => requestErasure('order_id', uuidv7())),
  );
  const one_more = () => requestErasure('order_id', uuidv7());
  await expect(one_more()).rejects.toMatchObject({ error: 'Conflict' });
  await carryOut(running_ones[0]!);
  for (const input of [...running_ones, await one_more()]) await carryOut(input);
});
