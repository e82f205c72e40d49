import { v7 as uuidv7 } from 'uuid';
import type { Order } from '../../src/contract/order';
import { recordRows } from '../support/database';
import { type CardName } from '../support/domain';
import { ledgerOf } from '../support/ledger';
import { Merchant, newIdempotencyKey, statusesOf, webhookOf } from '../support/merchant';
import {
  capture,
  capturePart,
  createAuthorization,
  etagOfOrder,
  getWholeOrder,
  httpStatusesOf,
  outcomeInWords,
  part,
  payingTransactionId,
  refund,
  untilFollowUp,
  voidAll,
  voidPart,
  type OrderAnswer,
  type Sent,
} from '../support/merchant-payments';
import { createTestProject } from '../support/operator';
import { startReceiver } from '../support/servers';
import { NOBODY } from '../support/shapes';
import { stack } from '../support/stack';

/**
 * Captures, voids and refunds over HTTP: what is refused, and the second time of each. Which amount is refused is
 * decided in the domain (test/src/domain/follow-up.test.ts).
 */
const merchant = new Merchant();

interface Kind {
  /** A payment of 1000 of which all can be asked for. */
  pay: (card?: CardName) => Promise<Order>;
  /** Asks for a part. */
  ask: (order: Order, amount: number, sent?: Sent) => Promise<OrderAnswer>;
  /** Asks for all that is left. */
  askAll: (order: Order, sent?: Sent) => Promise<OrderAnswer>;
  /** Where more is asked for than is left, and where nothing is left. */
  more: [status: number, type: string, property_path: string | undefined];
  none: [status: number, type: string];
}

const pay = async (card: CardName = 'approved') => (await merchant.paidOrder(card, { amount: 1_000 })) as Order;
const authorize = (card: CardName = 'approved') => createAuthorization(merchant, { card });
const MORE: Kind['more'] = [400, 'ValidationError', 'amount'];
const KINDS: Record<'capture' | 'void' | 'refund', Kind> = {
  capture: {
    pay: authorize,
    ask: (order, amount, sent) => capturePart(merchant, order, part(amount), sent),
    askAll: (order, sent) => capture(merchant, order, sent),
    more: MORE,
    none: [409, 'Conflict'],
  },
  void: {
    pay: authorize,
    ask: (order, amount, sent) => voidPart(merchant, order, part(amount), sent),
    askAll: (order, sent) => voidAll(merchant, order, sent),
    more: MORE,
    none: [409, 'CanNotCancelTransaction'],
  },
  refund: {
    pay,
    ask: (order, amount, sent) => refund(merchant, order, { amount }, sent),
    askAll: (order, sent) => refund(merchant, order, { amount: 1_000 }, sent),
    more: [400, 'RefundError', undefined],
    none: [400, 'RefundError'],
  },
};
const aKey = () => ({ headers: { 'idempotency-key': newIdempotencyKey() } });
const keyOf = ({ headers }: ReturnType<typeof aKey>) => headers['idempotency-key'];
/** What the processor did after the payment. */
const movesOf = async (order: Order) => (await ledgerOf(merchant, order)).slice(1);
const refusalOf = ({ status, body }: OrderAnswer) => [status, body.error?.type, body.error?.property_path];

describe.each(Object.entries(KINDS))('the second time of a %s', (kind, { pay, ask, askAll, more, none }) => {
  test('rules 11.2: with its key: the first answer, also at once and after its answer was lost', async () => {
    const [order, sent] = [await pay(), aKey()];
    const answers = await Promise.all([1, 2, 3, 4].map(() => ask(order, 600, sent)));
    expect(answers.map(({ status }) => status)).toEqual(Array(4).fill(200));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    await forgetAnswer(keyOf(sent));
    // More than is left by now, which is its own doing.
    expect(await ask(order, 600, { ...sent, slash: false })).toMatchObject({ status: 200, body: answers[0]!.body });
    expect(await movesOf(order)).toEqual([`${kind} approved 600`]);
  });

  test('rules 11.6: with its key a repeat of all is not refused because nothing is left; another key is', async () => {
    const [order, sent] = [await pay(), aKey()];
    const first = await askAll(order, sent);
    await forgetAnswer(keyOf(sent));
    expect(await askAll(order, sent)).toMatchObject({ status: 200, body: first.body });
    expect(outcomeInWords(await askAll(order, aKey()))).toEqual(none);
    expect(await movesOf(order)).toEqual([`${kind} approved 1000`]);
  });

  test('rules 11.4: with its key, but another amount, path or payment: IdempotencyKeyReused', async () => {
    const [order, other, sent] = [await pay(), await pay(), aKey()];
    await ask(order, 100, sent);
    const otherwise = KINDS[kind === 'capture' ? 'void' : 'capture'].ask;
    const asked = [ask(order, 101, sent), askAll(order, sent), ask(other, 100, sent), otherwise(order, 100, sent)];
    for (const answer of await Promise.all(asked)) {
      expect(outcomeInWords(answer)).toEqual([422, 'IdempotencyKeyReused']);
    }
    expect([await movesOf(order), await movesOf(other)]).toEqual([[`${kind} approved 100`], []]);
  });

  test('rules 11.5: a refusal by what is left is kept; of a body that is wrong by itself the key stays free', async () => {
    const [order, kept, late, corrected] = [await pay(), aKey(), aKey(), aKey()];
    const first = await ask(order, 1_001, kept);
    expect(refusalOf(first)).toEqual(more);
    expect(refusalOf(await ask(order, -1, corrected))).toEqual(MORE);
    expect(outcomeInWords(await ask(order, 1_000, corrected))).toEqual([200, 'completed']);
    expect(await ask(order, 1_001, kept)).toMatchObject({ status: 400, body: first.body });
    expect(outcomeInWords(await ask(order, 1_000, kept))).toEqual([422, 'IdempotencyKeyReused']);
    const refused = await ask(order, 1, late);
    expect(outcomeInWords(refused)).toEqual(none);
    expect(await ask(order, 1, late)).toMatchObject({ status: none[0], body: refused.body });
  });

  test('rules 9.9: without a key each is another one, and of several at once no more succeed than is there', async () => {
    const order = await pay();
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => ask(order, 300)));
    expect(httpStatusesOf(answers)).toEqual([200, 200, 200, 400, 400]);
    expect(await movesOf(order)).toEqual(Array(3).fill(`${kind} approved 300`));
  });

  test('rules 11.9: with If-Match: 412 at another version of the payment, and of several at once one succeeds', async () => {
    const order = await pay();
    const etag = await etagOfOrder(merchant, order);
    const at = (version: string): Sent => ({ headers: { 'if-match': version } });
    const late = [412, 'PreconditionFailed'];
    expect(outcomeInWords(await ask(order, 10, at('"999"')))).toEqual(late);
    const answers = await Promise.all([1, 2, 3].map(() => ask(order, 100, at(etag))));
    expect(httpStatusesOf(answers)).toEqual([200, 412, 412]);
    expect([outcomeInWords(await ask(order, 10, at(etag))), outcomeInWords(await askAll(order, at(etag)))]).toEqual([
      late,
      late,
    ]);
    expect(outcomeInWords(await ask(order, 10, at('*')))).toEqual([200, 'completed']);
    // A repeat is answered, although its own first run has made the new version.
    const [{ headers }, now] = [aKey(), await etagOfOrder(merchant, order)];
    const first = await ask(order, 20, { headers: { ...headers, 'if-match': now } });
    await forgetAnswer(headers['idempotency-key']);
    const again = await ask(order, 20, { headers: { ...headers, 'if-match': now } });
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect(await movesOf(order)).toHaveLength(3);
  });
});

describe('rules 8.5, 8.6 and 9.8: refused by what the payment is', () => {
  const delayed = { capture_mode: 'delayed', expiration_period: 'PT1H' };
  const after = async (order: Promise<Order>, ask: (order: Order) => Promise<unknown>) => (
    await ask(await order),
    order
  );
  const followUp = async (order: Promise<Order>, ask: (order: Order) => Promise<OrderAnswer>) =>
    (await ask(await order)).body;
  const unpaid = async () =>
    (await merchant.createOrder({
      transactions: [{ payment_method: 'credit-card', capture_mode: 'manual' }],
    })) as Order;

  /** What is refused of each; `-` is not. The other payments: test/src/domain/follow-up.test.ts. */
  test.each<[payment: string, make: () => Promise<Order>, refused: string]>([
    ['a sale', pay, 'capture void -'],
    ['an unpaid order', unpaid, 'capture void refund'],
    ['a delayed authorization', () => createAuthorization(merchant, { transaction: delayed }), 'capture - refund'],
    ['a captured one', () => after(authorize(), (order) => capture(merchant, order)), 'capture void -'],
    ['a capture order', () => followUp(authorize(), (order) => capture(merchant, order)), 'capture void refund'],
    ['a void order', () => followUp(authorize(), (order) => voidAll(merchant, order)), 'capture void refund'],
    ['a refund order', () => followUp(pay(), (order) => refund(merchant, order, { amount: 5 })), 'capture void refund'],
  ])('of %s', async (_payment, make, refused) => {
    const order = await make();
    const relatedOrders = async () => (await getWholeOrder(merchant, order)).related_orders;
    const before = await relatedOrders();
    for (const [kind, { ask, askAll, none }] of Object.entries(KINDS)) {
      if (!refused.includes(kind)) continue;
      const answers = [await ask(order, 1), await askAll(order)];
      expect([kind, ...answers.map(outcomeInWords)]).toEqual([kind, none, none]);
      // It names the payment order.
      for (const { body } of answers) expect(body.error.value).toContain(order.related_order_id ?? '');
    }
    expect(await relatedOrders()).toEqual(before);
  });
});
test('rules 1.16 and 2.3: 404 for what does not exist, or is of another order; 401 for another project; 400 for no UUID', async () => {
  const [order, other] = [await authorize(), await authorize()];
  type Asked = Parameters<typeof capture>[1];
  const inAllWays = async (by: Merchant, asked: Asked, is_refunded = true) => [
    await capture(by, asked),
    await capturePart(by, asked, part(1)),
    await voidAll(by, asked),
    await voidPart(by, asked, part(1)),
    ...(is_refunded ? [await refund(by, asked, { amount: 1 })] : []),
  ];
  const transactions = [{ id: payingTransactionId(order) }];
  const missing = [
    ...(await inAllWays(merchant, { id: NOBODY, transactions })),
    ...(await inAllWays(merchant, { id: order.id, transactions: [{ id: uuidv7() }] }, false)),
    ...(await inAllWays(merchant, { id: order.id, transactions: [{ id: payingTransactionId(other) }] }, false)),
  ];
  expect(missing.map(outcomeInWords)).toEqual(Array(13).fill([404, 'NotFound']));
  const { merchant: stranger } = await createTestProject();
  for (const by of [stranger, new Merchant(stack(), stack().live_api_key)]) {
    expect((await inAllWays(by, order)).map(outcomeInWords)).toEqual(Array(5).fill([401, 'Unauthorized']));
  }
  const wrong = await inAllWays(merchant, { id: order.id, transactions: [{ id: 'x' }] }, false);
  expect(wrong.map(refusalOf)).toEqual(Array(4).fill([400, 'ValidationError', 'transaction_id']));
  expect(refusalOf(await refund(merchant, { id: 'x' }, { amount: 1 }))).toEqual([400, 'ValidationError', 'order_id']);
  expect(await movesOf(order)).toEqual([]);
});

test.each([
  ['capture', 'capture_refused', 'capturable'],
  ['refund', 'refund_refused', 'refundable'],
] as const)(
  'rules 9.2: a %s that the processor refuses: 200 with status error, and the amount is free again',
  async (kind, card, left) => {
    const { pay, askAll } = KINDS[kind];
    const order = await pay(card);
    for (const round of [1, 2]) {
      const { status, body } = await askAll(order);
      expect([status, statusesOf(body)]).toEqual([200, 'error: error']);
      expect(body.transactions![0]!.outcomes!.processing).toMatchObject({ status: 'error', response_code: '57' });
      expect(body.transactions![0]!.events).toMatchObject([
        { event: 'new', source: 'merchant' },
        { event: 'error', source: 'processor', result: 'failed' },
      ]);
      expect(body).not.toHaveProperty('completed');
      const original = await getWholeOrder(merchant, order);
      expect([original.related_orders!.length, original.amount_details![left], original.flags]).toEqual([
        round,
        1_000,
        ['is-test'],
      ]);
      expect(original).not.toHaveProperty('refunded_amount');
    }
    expect(await movesOf(order)).toEqual(Array(2).fill(`${kind} refused 1000`));
  },
);

test('rules 13.1: a follow-up order sends a webhook of its own to the address of its payment, which sends none', async () => {
  const receiver = await startReceiver();
  try {
    const { merchant: own, id: project_id } = await createTestProject({ webhook_url: receiver.url });
    const elsewhere = new URL('/of-the-order', receiver.url).href;
    const lapses = { expiration_period: 'PT5S' };
    // Webhooks of two orders keep no order between them.
    const came = (n: number) => receiver.waitFor(n);
    const order = await createAuthorization(own);
    await came(1);
    const captured = (await capturePart(own, order, part(10))).body;
    await came(2);
    const refunded = (await refund(own, order, { amount: 10 })).body;
    await came(3);
    const lapsing = await createAuthorization(own, { webhook_url: elsewhere, transaction: lapses });
    await came(4);
    const released = await untilFollowUp(own, lapsing, 'is-void');
    expect(released.webhook_url).toBe(elsewhere);
    await came(5);
    const last = await own.paidOrder('approved');
    await came(6);
    expect(receiver.received.map(({ path, body }) => [path, webhookOf(body)])).toEqual(
      [
        ['/hook', order.id],
        ['/hook', captured.id],
        ['/hook', refunded.id],
        ['/of-the-order', lapsing.id],
        ['/of-the-order', released.id],
        ['/hook', last.id],
      ].map(([path, order_id]) => [path, { event: 'status_changed', order_id, project_id }]),
    );
  } finally {
    await receiver.close();
  }
}, 300_000);

/** As if whoever answers had been killed after the request did its work: its key has no answer. */
async function forgetAnswer(key: string): Promise<void> {
  const forget =
    'update idempotency_keys set status = null, body = null, object_id = null, version = null where key = :key returning key';
  const updated = await recordRows(forget, { key });
  if (updated.length !== 1) throw new Error(`no key ${key}`);
}
