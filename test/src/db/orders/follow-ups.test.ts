import { insertFollowUp } from '../../../../src/db/orders/follow-ups';
import { findOrderSnapshot, loadOrderSnapshot } from '../../../../src/db/orders/order-snapshot';
import { findStoredOrder, type StoredTransaction } from '../../../../src/db/orders/stored-order';
import { FOLLOW_UPS, type FollowUpKind, type NewFollowUp } from '../../../../src/domain/follow-up';
import type { OrderSnapshot } from '../../../../src/domain/order-snapshot';
import { ServiceError } from '../../../../src/errors';
import { createTestDatabase, runBehindLock } from '../../../support/database';
import { aRequest, NOW, PROJECT } from '../../../support/domain';
import {
  aFollowUp,
  anAcceptedPayment,
  answerFollowUp,
  CAPTURE_END,
  everythingOf,
  paymentOf,
  type PaymentMode,
} from '../../../support/rows';
import { setUp } from '../../../support/set-up';

const database = setUp(() => createTestDatabase());

type Request = Partial<NewFollowUp> & { kind: FollowUpKind };
const view = async (order_id: string) => (await findStoredOrder(database.db, order_id))!;
const everything = (payment: OrderSnapshot) => everythingOf(database.db, payment);
const moneyIn = async (payment: OrderSnapshot) => (await view(payment.id)).transactions[0]!;
const accepted = (mode: PaymentMode = 'sale', amount = 100) => anAcceptedPayment(database.db, { mode, amount });
const request = (payment: OrderSnapshot, what: Request) => insertFollowUp(database.db, aFollowUp(payment, what));

/** What is neither 0 nor absent, by the names of the columns without `_amount`. */
function moved(transaction: StoredTransaction): Record<string, number> {
  const entries = Object.entries(transaction).filter(
    ([column, value]) => /._amount$/.test(column) && value !== 0 && value !== null,
  );
  return Object.fromEntries(entries.map(([column, value]) => [column.replace('_amount', ''), value as number]));
}

/** The type of each refusal, `done` otherwise; anything that is no refusal is thrown. */
async function outcomes(attempts: Promise<unknown>[]): Promise<string[]> {
  const results = await Promise.allSettled(attempts);
  return results
    .map((result) => {
      if (result.status === 'fulfilled') return 'done';
      if (result.reason instanceof ServiceError) return result.reason.error;
      throw result.reason;
    })
    .toSorted();
}

describe('rules 9.1, 9.3 and 9.4: insertFollowUp writes an order beside the payment order', () => {
  test.each<[FollowUpKind, PaymentMode, string]>([
    ['capture', 'manual', 'credit'],
    ['void', 'delayed', 'debit'],
    ['refund', 'sale', 'debit'],
    ['chargeback', 'sale', 'debit'],
    ['reversal', 'sale', 'credit'],
  ])('rules 6.8, 9.1, 9.3 and 9.4: %s of a payment (%s)', async (kind, mode, credit_debit) => {
    const payment = await accepted(mode);
    const follow_up = aFollowUp(payment, { kind, amount: 40, now: NOW + 1_000 });
    const record = await insertFollowUp(database.db, follow_up);
    expect(record).toEqual(await findOrderSnapshot(database.db, follow_up.id));
    const order = await view(follow_up.id);
    // They copy currency and webhook_url, and description and merchant_order_id when none is sent; nothing else.
    expect(order).toMatchObject({
      kind,
      related_order_id: payment.id,
      project_id: PROJECT.id,
      status: 'new',
      amount: 40,
      currency: 'EUR',
      webhook_url: 'https://shop.example/orders',
      description: 'Two tickets',
      merchant_order_id: 'A-1',
    });
    expect([
      order.customer,
      order.extra,
      order.return_url,
      order.failure_url,
      order.expiration_period,
      order.expires_at,
    ]).toEqual([null, null, null, null, null, null]);
    expect(order.transactions).toHaveLength(1);
    const [transaction] = order.transactions;
    expect(transaction).toMatchObject({
      id: follow_up.transaction_id,
      amount: 40,
      currency: 'EUR',
      credit_debit,
      transaction_type: kind,
      payment_method: kind === 'refund' ? 'credit-card-refund' : 'credit-card',
      payment_method_brand: 'visa',
      original_transaction_id: payment.transactions[0]!.id,
      status: 'new',
      capture_mode: null,
    });
    // Neither the token nor where the money of account funding went.
    expect(transaction!.payment_method_details).toEqual({ truncated_pan: '411111******1111' });
    expect(transaction!.events.map(({ event, source }) => [event, source])).toEqual([['new', follow_up.requested_by]]);

    const original = await view(payment.id);
    expect(original).toMatchObject({
      status: 'completed',
      version: payment.version + 1,
      follow_ups: [{ id: follow_up.id, kind, status: 'new' }],
    });
    expect([order.created, order.modified, original.modified].map((at) => Date.parse(at))).toEqual([
      NOW + 1_000,
      NOW + 1_000,
      NOW + 1_000,
    ]);
    const { pending } = FOLLOW_UPS[kind];
    expect(moved(original.transactions[0]!)).toEqual({
      ...(mode === 'sale' && { captured: 100 }),
      ...(pending && { [pending.replace('_amount', '')]: 40 }),
    });
  });

  test('fields that the merchant sends are stored', async () => {
    const extra = JSON.parse('{"z":1,"a":[1e3]}') as object;
    const { id: order_id } = await request(await accepted(), {
      kind: 'refund',
      amount: 1,
      merchant_order_id: 'R-1',
      description: 'One ticket returned',
      extra,
    });
    const order = await view(order_id);
    expect([order.merchant_order_id, order.description, JSON.stringify(order.extra)]).toEqual([
      'R-1',
      'One ticket returned',
      JSON.stringify(extra),
    ]);
  });

  test('no webhook for an order that is made, and none of the payment order', async () => {
    const payment = await accepted();
    await request(payment, { kind: 'refund' });
    expect((await loadOrderSnapshot(database.db, payment.id)).deliveries).toEqual(payment.deliveries);
  });
  test('the second time is answered as it is, whatever was asked for since', async () => {
    const payment = await accepted();
    const follow_up = aFollowUp(payment, { kind: 'refund', amount: 60 });
    const first = await insertFollowUp(database.db, follow_up);
    const before = await everything(payment);
    expect(await insertFollowUp(database.db, { ...follow_up, now: NOW + 1 })).toEqual(first);
    // Not even what would be refused now.
    expect(
      await insertFollowUp(database.db, {
        ...follow_up,
        amount: 99,
        request: aRequest({ versions: [payment.version] }),
      }),
    ).toEqual(first);
    expect(await everything(payment)).toEqual(before);
  });
});

test.each([
  ['with a key', {}],
  ['without a key', { begin_before: Date.now() + 600_000 }],
])('rules 10.5: a stalled try of a request %s writes nothing, the next one decides', async (_what, over) => {
  const payment = await accepted();
  const follow_up = { ...aFollowUp(payment, { kind: 'refund', amount: 60 }), request: aRequest(over) };
  const begun = (ago: number) => ({ ...follow_up, now_monotonic: performance.now() - ago });
  await expect(insertFollowUp(database.db, begun(3_001))).rejects.toThrow('the try was stalled');
  expect((await loadOrderSnapshot(database.db, payment.id)).version).toBe(payment.version);
  expect(await insertFollowUp(database.db, begun(0))).toMatchObject({ status: 'new' });
});

describe('a refusal stores nothing', () => {
  test.each<[title: string, mode: PaymentMode, what: Request, error: string]>([
    ['a refund of more than was paid', 'sale', { kind: 'refund', amount: 101 }, 'RefundError'],
    ['a capture at the end of the window', 'manual', { kind: 'capture', now: CAPTURE_END }, 'Conflict'],
    [
      'a version the sender does not allow',
      'sale',
      { kind: 'refund', request: aRequest({ versions: [0, 7] }) },
      'PreconditionFailed',
    ],
    [
      'the version comes before what is refused otherwise',
      'sale',
      { kind: 'refund', amount: 101, request: aRequest({ versions: [] }) },
      'PreconditionFailed',
    ],
  ])('%s (%s)', async (_title, mode, what, error) => {
    const payment = await accepted(mode);
    const before = await everything(payment);
    for (let time = 0; time < 2; time += 1) expect(await outcomes([request(payment, what)])).toEqual([error]);
    expect(await everything(payment)).toEqual(before);
  });
  test('an order that is no payment, or a transaction of another one, is not found', async () => {
    const [one, other] = [await accepted(), await accepted()];
    const refund = await request(one, { kind: 'refund', amount: 1 });
    const nobody = '0190c000-0000-7000-8000-00000000cccc';
    expect(
      await outcomes([
        request(one, { kind: 'refund', original_order_id: nobody }),
        request(one, { kind: 'refund', original_transaction_id: paymentOf(other).original_transaction_id }),
        // A follow-up order has nothing that could be followed up.
        request(refund, { kind: 'refund', amount: 1 }),
      ]),
    ).toEqual(['NotFound', 'NotFound', 'NotFound']);
  });
});

describe('rules 9.6: recordFollowUpOutcome', () => {
  test.each<[kind: FollowUpKind, mode: PaymentMode, approved: object, refused: object]>([
    ['capture', 'manual', { captured: 40 }, {}],
    ['void', 'manual', { voided: 40 }, {}],
    ['refund', 'sale', { captured: 100, refunded: 40 }, { captured: 100 }],
    ['chargeback', 'sale', { captured: 100, charged_back: 40 }, { captured: 100 }],
    ['reversal', 'sale', { captured: 100, won_back: 40 }, { captured: 100 }],
  ])(
    'rules 9.2 and 9.6: %s: what the processor confirmed only grows, what was asked shrinks again',
    async (kind, mode, approved, refused) => {
      for (const [answer, expected, status] of [
        ['approved', approved, 'completed accepted'],
        ['refused', refused, 'error error'],
      ] as const) {
        const payment = await accepted(mode);
        const follow_up = aFollowUp(payment, { kind, amount: 40 });
        const asked = await insertFollowUp(database.db, follow_up);
        const waiting = await answerFollowUp(database.db, follow_up, asked, 'processing', NOW + 1);
        const pending = moved(await moneyIn(payment));
        const after = await answerFollowUp(database.db, follow_up, waiting, answer, NOW + 2);
        expect(after).toEqual(await findOrderSnapshot(database.db, follow_up.id));
        const order = await view(follow_up.id);
        expect([waiting.status, `${order.status} ${order.transactions[0]!.status}`]).toEqual(['processing', status]);
        expect(order.transactions[0]!.events.map(({ event }) => event)).toEqual([
          'new',
          'processing',
          status.split(' ')[1],
        ]);
        // Its own webhooks: one for each change of its status.
        expect(after.deliveries).toEqual([1, 2]);
        const { pending: column } = FOLLOW_UPS[kind];
        expect(pending).toEqual({ ...refused, ...(column && { [column.replace('_amount', '')]: 40 }) });
        expect(moved(await moneyIn(payment))).toEqual(expected);
        // The payment order stays, but for its version: it shows how its follow-up orders stand.
        const original = await loadOrderSnapshot(database.db, payment.id);
        expect([original.status, original.version]).toEqual(['completed', payment.version + 3]);
      }
    },
  );
});

test('rules 4.15: modified of a payment never goes back, whatever follows it', async () => {
  const payment = await accepted();
  const later = NOW + 10_000;
  const instants = async () => {
    const { modified, transactions } = await view(payment.id);
    return [modified, transactions[0]!.modified].map((instant) => Date.parse(instant));
  };
  for (const table of ['orders', 'transactions']) await database.db(table).update({ modified: new Date(later) });
  const follow_up = aFollowUp(payment, { kind: 'refund', amount: 60 });
  const asked = await insertFollowUp(database.db, follow_up);
  expect(await instants()).toEqual([later, later]);
  await answerFollowUp(database.db, follow_up, asked, 'approved', NOW + 5_000);
  expect(await instants()).toEqual([later, later]);
});

describe('rules 9.9: two at once, on connections of their own', () => {
  test('rules 9.9: the total stays within the original amount: of refunds of 60 % one wins', async () => {
    for (let round = 0; round < 10; round += 1) {
      const payment = await accepted();
      expect(await outcomes([1, 2, 3, 4].map(() => request(payment, { kind: 'refund', amount: 60 })))).toEqual([
        'RefundError',
        'RefundError',
        'RefundError',
        'done',
      ]);
      expect(moved(await moneyIn(payment))).toEqual({ captured: 100, refund_pending: 60 });
      expect((await view(payment.id)).follow_ups).toHaveLength(1);
    }
  });

  test('of two that name the same version one wins', async () => {
    const payment = await accepted();
    const sent = aRequest({ versions: [payment.version] });
    expect(await outcomes([1, 2].map(() => request(payment, { kind: 'refund', amount: 10, request: sent })))).toEqual([
      'PreconditionFailed',
      'done',
    ]);
  });
});
describe('rules 9.6: the schema enforces its rules without the code', () => {
  test.each<[title: string, mode: PaymentMode, changes: string]>([
    [
      'rules 9.6: captured, voided and asked for more than authorized',
      'manual',
      'captured_amount = 30, voided_amount = 30, capture_pending_amount = 30, void_pending_amount = 11',
    ],
    ['voided more than authorized', 'manual', 'voided_amount = 101'],
    ['refunded more than captured', 'sale', 'refunded_amount = 101'],
    [
      'rules 9.6: refunded and asked for more than captured',
      'sale',
      'refunded_amount = 60, refund_pending_amount = 41',
    ],
    ['refunded what is only reserved', 'manual', 'refund_pending_amount = 1'],
    ['voided of a sale', 'sale', 'captured_amount = 0, voided_amount = 1'],
    ['a capture of a sale', 'sale', 'captured_amount = 0, capture_pending_amount = 1'],
    ['captured and cancelled', 'manual', "captured_amount = 1, status = 'cancelled'"],
    ['an authorization without its window', 'manual', 'capture_ends_at = null'],
    ['an authorization without its period', 'manual', 'capture_period = null'],
    ['a mode nobody knows', 'manual', "capture_mode = 'never'"],
    ...['voided', 'refunded', 'charged_back', 'won_back', 'capture_pending', 'void_pending', 'refund_pending'].map(
      (name): [string, PaymentMode, string] => [`${name} below 0`, 'manual', `${name}_amount = -1`],
    ),
  ])('%s (%s)', async (_title, mode, changes) => {
    const { id: order_id } = await accepted(mode);
    await expect(database.db.raw(`update transactions set ${changes} where order_id = '${order_id}'`)).rejects.toThrow(
      /violates check constraint/,
    );
  });

  test.each([
    ['a kind nobody knows', "kind = 'gift'"],
    ['a follow-up order that nobody asked for', 'requested_by = null'],
    ['asked for by somebody unknown', "requested_by = 'customer'"],
    ['a follow-up order of nothing', 'related_order_id = null'],
  ])('%s', async (_title, changes) => {
    const { id: order_id } = await request(await accepted(), { kind: 'refund' });
    await expect(database.db.raw(`update orders set ${changes} where id = '${order_id}'`)).rejects.toThrow(
      /violates check constraint/,
    );
  });

  test('chargebacks are in no CHECK', async () => {
    const { id: order_id } = await accepted();
    await expect(
      database.db.raw(
        `update transactions set refunded_amount = 100, charged_back_amount = 1000 where order_id = '${order_id}'`,
      ),
    ).resolves.toBeDefined();
  });
});

describe('while another one has the payment', () => {
  test('rules 7.1: a capture that gets its turn after the end of the window is refused, though it was sent before', async () => {
    const payment = await accepted('manual');
    const before = await everything(payment);
    const lock = `select 1 from orders where id = '${payment.id}' for update`;
    const held = runBehindLock(database.db, lock, () =>
      request(payment, { kind: 'capture', amount: 40, now: CAPTURE_END - 100 }),
    );
    await expect(held).rejects.toMatchObject({ error: 'Conflict' });
    expect(await everything(payment)).toEqual(before);
  });
});

describe('rules 10.5: past begin_before nothing is written', () => {
  test.each(['orders', 'transactions'])('the payment was somebody else’s until then (its row of %s)', async (table) => {
    const payment = await accepted();
    const before = await everything(payment);
    const column = table === 'orders' ? 'id' : 'order_id';
    const lock = `select 1 from ${table} where ${column} = '${payment.id}' for update`;
    const held = runBehindLock(database.db, lock, (begin_before) =>
      request(payment, { kind: 'refund', amount: 40, request: aRequest({ begin_before }) }),
    );
    await expect(held).rejects.toMatchObject({ error: 'ServiceUnavailable' });
    expect(await everything(payment)).toEqual(before);
  });
});
