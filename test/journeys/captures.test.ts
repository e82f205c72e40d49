import { v7 as uuidv7 } from 'uuid';
import { orderSchema, type Order } from '../../src/contract/order';
import { CARD, Client } from '../api/page/hosted-page';
import { CARDS } from '../support/cards';
import { Merchant, statusesOf, webhookOf } from '../support/client';
import { NOBODY, TIMESTAMP, UUID } from '../support/shapes';
import { createTestProject } from '../support/projects';
import { startReceiver } from '../support/receiver';
import { stack } from '../support/stack';
import { deleteWorkflow } from '../support/temporal-client';
import {
  newIdempotencyKey,
  createAuthorization,
  ledgerOf,
  capture,
  capturePart,
  amountDetailsOf,
  etagOf,
  expectNothingEmpty,
  untilFollowUp,
  forgetAnswer,
  untilOrder,
  part,
  payingTransactionId,
  getWholeOrder,
  outcomeOf,
  httpStatusesOf,
  voidPart,
} from './requests';

/** Money that is reserved, and taken later: by the merchant (manual) or by the service at the end (delayed). */
const merchant = new Merchant();

/** Temporal takes half a minute to forget: it does so while the other tests run. */
let forgotten: Promise<Order>;
beforeAll(() => {
  forgotten = createAuthorization(merchant).then(async (order) => (await deleteWorkflow(order.id), order));
  forgotten.catch(() => undefined);
});

describe('an authorization', () => {
  test('rules 8.1: with capture_mode the amount is reserved: completed and accepted, nothing captured, capturable for five days', async () => {
    const order = orderSchema.parse(await createAuthorization(merchant));
    expectNothingEmpty(order);
    expect(statusesOf(order)).toBe('completed: accepted');
    expect(order.transactions![0]).toMatchObject({
      transaction_type: 'authorization',
      capture_mode: 'manual',
      is_capturable: true,
      expiration_period: 'P5D',
      credit_debit: 'credit',
    });
    for (const field of ['captured_amount', 'voided_amount', 'payment_url']) {
      expect(order.transactions![0]).not.toHaveProperty(field);
    }
    for (const field of ['order_url', 'refunded_amount', 'related_orders']) expect(order).not.toHaveProperty(field);
    expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 1000']);
    expect(await amountDetailsOf(merchant, order)).toEqual({
      capturable: 1_000,
      captured: 0,
      refundable: 0,
      refunded: 0,
      voidable: 1_000,
      voided: 0,
    });
  });

  test.each([
    ['manual', undefined, 'P5D', true],
    ['manual', 'PT2H', 'PT2H', true],
    ['delayed', undefined, 'PT30M', false],
    ['delayed', 'P1D', 'P1D', false],
  ] as const)(
    'rules 7.5: windows: %s for %s shows %s, capturable through the API: %s',
    async (capture_mode, expiration_period, shown, is_capturable) => {
      const order = await createAuthorization(merchant, {
        transaction: { capture_mode, ...(expiration_period && { expiration_period }) },
      });
      expect(order.transactions![0]).toMatchObject({ capture_mode, expiration_period: shown, is_capturable });
    },
  );

  test('rules 8.8: money that is not captured is released at the end of the window, by a void order of the service; the order stays completed', async () => {
    const order = await createAuthorization(merchant, {
      transaction: { expiration_period: 'PT5S' },
      merchant_order_id: 'M-lapses',
    });
    const released = await untilFollowUp(merchant, order, 'is-void');
    expect(released).toMatchObject({
      status: 'completed',
      amount: 1_000,
      void_of_order_id: order.id,
      merchant_order_id: 'M-lapses',
    });
    expect(released.transactions![0]!.events![0]).toMatchObject({ event: 'new', source: 'service' });
    const lapsed = await untilOrder(
      merchant,
      order,
      'has lapsed',
      ({ transactions }) => transactions![0]!.status === 'expired',
    );
    expect(statusesOf(lapsed)).toBe('completed: expired');
    expect(lapsed.flags).toEqual(['is-test', 'has-voids']);
    expect(lapsed.transactions![0]).toMatchObject({
      is_capturable: false,
      voided_amount: 1_000,
      events: [{ event: 'new' }, { event: 'accepted' }, { event: 'expired', source: 'service' }],
    });
    expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 1000', 'void approved 1000']);
    expect(outcomeOf(await capture(merchant, order))).toEqual([409, 'Conflict']);
  });

  test('an authorization of 0 holds nothing: completed, nothing to capture, nothing to release', async () => {
    const order = await createAuthorization(merchant, { amount: 0, transaction: { expiration_period: 'PT1S' } });
    expect(statusesOf(order)).toBe('completed: accepted');
    expect(outcomeOf(await capture(merchant, order))).toEqual([409, 'Conflict']);
    expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 0']);
  });

  test('declined, it is an error like any other', async () => {
    const order = await createAuthorization(merchant, { card: 'do_not_honor' });
    expect([statusesOf(order), order.transactions![0]!.is_capturable]).toEqual(['error: error', false]);
    expect(outcomeOf(await capture(merchant, order))).toEqual([409, 'Conflict']);
  });

  test('rules 6.4: attempts: on the hosted page a further attempt copies capture_mode and expiration_period', async () => {
    const order = await merchant.createOrder({
      amount: 800,
      transactions: [{ payment_method: 'credit-card', capture_mode: 'manual', expiration_period: 'PT3H' }],
    });
    const customer = new Client();
    await customer.postForm(`/pay/${order.id}/`, {
      ...CARD,
      number: CARDS.do_not_honor.number,
      ...(await customer.openPage(order)),
    });
    await customer.postForm(`/pay/${order.id}/`, { ...CARD, ...(await customer.openPage(order)) });
    const paid = orderSchema.parse(await merchant.getOrder(order.id));
    expect(statusesOf(paid)).toBe('completed: error accepted');
    for (const transaction of paid.transactions!) {
      expect(transaction).toMatchObject({
        capture_mode: 'manual',
        expiration_period: 'PT3H',
        transaction_type: 'authorization',
      });
    }
    expect(paid.transactions!.map((one) => one.is_capturable)).toEqual([false, true]);
    expect(await ledgerOf(merchant, order)).toEqual(['authorize declined 800', 'authorize approved 800']);
    expect(outcomeOf(await capture(merchant, paid))).toEqual([200, 'completed']);
    // The attempt that was declined holds nothing.
    expect(outcomeOf(await capture(merchant, { id: paid.id, transactions: [paid.transactions![0]!] }))).toEqual([
      409,
      'Conflict',
    ]);
  });

  test('after 3-D Secure the window counts from acceptance', async () => {
    const order = await createAuthorization(merchant, {
      card: 'frictionless',
      transaction: { expiration_period: 'PT1H' },
    });
    expect(order.transactions![0]).toMatchObject({ is_capturable: true, expiration_period: 'PT1H' });
  });
});

describe('a capture', () => {
  test('rules 8.3: of all: an order of its own that names the original, and is named by it', async () => {
    const order = await createAuthorization(merchant, {
      description: 'A chair',
      merchant_order_id: 'M-7',
      extra: { mine: 1 },
      customer: { first_name: 'Ada' },
      return_url: 'https://shop.example/',
    });
    const answer = await capture(merchant, order);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
    const captured = orderSchema.parse(answer.body);
    // Exactly these fields: no order_url, no expiration, nothing of the customer.
    expect(captured).toEqual({
      id: UUID,
      project_id: order.project_id,
      merchant_id: order.merchant_id,
      merchant_name: 'Demo Books',
      merchant_order_id: 'M-7',
      description: 'A chair',
      currency: 'EUR',
      amount: 1_000,
      status: 'completed',
      flags: ['is-test', 'is-capture'],
      created: TIMESTAMP,
      modified: TIMESTAMP,
      completed: TIMESTAMP,
      capture_of_order_id: order.id,
      related_order_id: order.id,
      transactions: [
        {
          id: UUID,
          order_id: captured.id,
          created: TIMESTAMP,
          modified: TIMESTAMP,
          amount: 1_000,
          currency: 'EUR',
          credit_debit: 'credit',
          payment_method: 'credit-card',
          payment_method_brand: 'visa',
          payment_method_details: {
            truncated_pan: '411111******1111',
            card_expiry: '122034',
            cardholder_name: 'Ada Lovelace',
          },
          transaction_type: 'capture',
          status: 'accepted',
          events: [
            { id: UUID, event: 'new', occurred: TIMESTAMP, noticed: TIMESTAMP, source: 'merchant' },
            {
              id: UUID,
              event: 'accepted',
              occurred: TIMESTAMP,
              noticed: TIMESTAMP,
              source: 'processor',
              result: 'approved',
            },
          ],
          outcomes: { processing: { status: 'accepted', response_code: '00', response_code_description: 'Approved' } },
        },
      ],
    });
    expect(await merchant.getOrder(captured.id)).toEqual(captured);
    const original = await getWholeOrder(merchant, order);
    expect(original).toMatchObject({
      status: 'completed',
      flags: ['is-test', 'has-captures'],
      related_orders: [captured.id],
    });
    expect(original.transactions![0]).toMatchObject({
      status: 'accepted',
      captured_amount: 1_000,
      is_capturable: false,
    });
    expect(original.amount_details).toEqual({
      capturable: 0,
      captured: 1_000,
      refundable: 1_000,
      refunded: 0,
      voidable: 0,
      voided: 0,
    });
    expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 1000', 'capture approved 1000']);
    expectNothingEmpty(original);
  });

  test('rules 8.3: of parts: repeated until nothing is left; a part has a description of its own', async () => {
    const order = await createAuthorization(merchant, { description: 'A table' });
    const first = await capturePart(merchant, order, {
      amount: 300,
      description: 'first',
      merchant_order_id: 'ignored',
    });
    expect(first.body).toMatchObject({ amount: 300, description: 'first', status: 'completed' });
    expect(first.body).not.toHaveProperty('merchant_order_id');
    expect(await amountDetailsOf(merchant, order)).toEqual({
      capturable: 700,
      captured: 300,
      refundable: 300,
      refunded: 0,
      voidable: 700,
      voided: 0,
    });
    expect(outcomeOf(await capturePart(merchant, order, part(500), { slash: false }))).toEqual([200, 'completed']);
    const rest = await capture(merchant, order, { slash: false });
    expect([rest.status, rest.body.amount, rest.body.description]).toEqual([200, 200, 'A table']);
    expect((await getWholeOrder(merchant, order)).transactions![0]).toMatchObject({
      captured_amount: 1_000,
      is_capturable: false,
    });
    expect(outcomeOf(await capture(merchant, order))).toEqual([409, 'Conflict']);
    expect(outcomeOf(await capturePart(merchant, order, part(1)))).toEqual([409, 'Conflict']);
    expect(await ledgerOf(merchant, order)).toEqual([
      'authorize approved 1000',
      'capture approved 300',
      'capture approved 500',
      'capture approved 200',
    ]);
  });

  test.each([
    ['more than is left', part(701), 'amount'],
    ['an amount of 0', part(0), 'amount'],
    ['a negative amount', part(-1), 'amount'],
    ['half a cent', part(0.5), 'amount'],
    ['an amount as text', { ...part(1), amount: '1' }, 'amount'],
    ['no amount', { description: 'x' }, 'amount'],
    ['no description', { amount: 1 }, 'description'],
    ['a description that is no text', { amount: 1, description: 5 }, 'description'],
    ['null', { amount: 1, description: null }, 'description'],
    ['a card number', { amount: 1, description: CARDS.approved.number }, 'description'],
  ])('refused with ValidationError: %s', async (_title, body, property_path) => {
    const order = await createAuthorization(merchant);
    await capturePart(merchant, order, part(300));
    const { status, body: refused } = await capturePart(merchant, order, body);
    expect([status, refused.error.type, refused.error.property_path]).toEqual([400, 'ValidationError', property_path]);
    expect((await amountDetailsOf(merchant, order)).captured).toBe(300);
    expect(await ledgerOf(merchant, order)).toHaveLength(2);
  });

  test('refused with Conflict: a sale, an unpaid order, a follow-up order', async () => {
    const sale = await merchant.paidOrder('approved');
    const unpaid = await merchant.createOrder({
      transactions: [{ payment_method: 'credit-card', capture_mode: 'manual' }],
    });
    const captured = (await capture(merchant, await createAuthorization(merchant))).body;
    for (const order of [sale, unpaid, captured]) {
      expect(outcomeOf(await capture(merchant, order))).toEqual([409, 'Conflict']);
      expect(outcomeOf(await capturePart(merchant, order, part(1)))).toEqual([409, 'Conflict']);
    }
    expect((await capture(merchant, captured)).body.error.value).toContain(captured.related_order_id);
  });

  test('rules 8.2: delayed cannot be captured through the API', async () => {
    const order = await createAuthorization(merchant, {
      transaction: { capture_mode: 'delayed', expiration_period: 'PT1H' },
    });
    for (const answer of [await capture(merchant, order), await capturePart(merchant, order, part(1))]) {
      expect(outcomeOf(answer)).toEqual([409, 'Conflict']);
    }
    expect(await amountDetailsOf(merchant, order)).toMatchObject({ capturable: 0, captured: 0, voidable: 1_000 });
    expect(await ledgerOf(merchant, order)).toHaveLength(1);
  });

  test('404 for an order or transaction that does not exist, also one of another order; 401 for another project; 400 for no uuid', async () => {
    const [order, other] = [await createAuthorization(merchant), await createAuthorization(merchant)];
    const id = payingTransactionId(order);
    const { merchant: stranger } = await createTestProject();
    const live = new Merchant(stack(), stack().live_api_key);
    for (const wrong of [
      { id: NOBODY, transactions: [{ id }] },
      { id: order.id, transactions: [{ id: uuidv7() }] },
      { id: order.id, transactions: [{ id: payingTransactionId(other) }] },
    ]) {
      expect([
        outcomeOf(await capture(merchant, wrong)),
        outcomeOf(await capturePart(merchant, wrong, part(1))),
      ]).toEqual([
        [404, 'NotFound'],
        [404, 'NotFound'],
      ]);
    }
    for (const wrong of [stranger, live]) {
      expect([outcomeOf(await capture(wrong, order)), outcomeOf(await capturePart(wrong, order, part(1)))]).toEqual([
        [401, 'Unauthorized'],
        [401, 'Unauthorized'],
      ]);
    }
    expect((await capture(merchant, { id: order.id, transactions: [{ id: 'x' }] })).body.error.property_path).toBe(
      'transaction_id',
    );
    expect(await ledgerOf(merchant, order)).toHaveLength(1);
  });

  test('rules 4.14: a capture the processor refuses: 200 with status error, and the amount is capturable again', async () => {
    const order = await createAuthorization(merchant, { card: 'capture_refused' });
    for (const round of [1, 2]) {
      const { status, body } = await capture(merchant, order);
      expect([status, statusesOf(body)]).toEqual([200, 'error: error']);
      expect(body.transactions![0]!.outcomes!.processing).toMatchObject({ status: 'error', response_code: '57' });
      expect(body.transactions![0]!.events!.at(-1)).toMatchObject({ result: 'failed', source: 'processor' });
      expect(body).not.toHaveProperty('completed');
      expect((await getWholeOrder(merchant, order)).related_orders).toHaveLength(round);
    }
    const original = await getWholeOrder(merchant, order);
    expect([original.flags, original.amount_details!.capturable, original.transactions![0]!.is_capturable]).toEqual([
      ['is-test'],
      1_000,
      true,
    ]);
    expect(await ledgerOf(merchant, order)).toEqual([
      'authorize approved 1000',
      'capture refused 1000',
      'capture refused 1000',
    ]);
  });
});

describe('the second time', () => {
  test('with the same Idempotency-Key: the first answer, one capture; also at once, and after its answer got lost', async () => {
    const order = await createAuthorization(merchant);
    const headers = { 'idempotency-key': newIdempotencyKey() };
    const answers = await Promise.all([1, 2, 3, 4].map(() => capturePart(merchant, order, part(400), { headers })));
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
    await forgetAnswer(headers['idempotency-key']);
    const again = await capturePart(merchant, order, part(400), { headers });
    expect([again.status, again.body]).toEqual([200, answers[0]!.body]);
    expect(
      (
        await capturePart(
          merchant,
          order,
          { description: part(400).description, amount: 400 },
          { headers, slash: false },
        )
      ).body,
    ).toEqual(again.body);
    expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 1000', 'capture approved 400']);
  });

  test('a repeat of a capture of everything is no Conflict', async () => {
    const order = await createAuthorization(merchant);
    const headers = { 'idempotency-key': newIdempotencyKey() };
    const first = await capture(merchant, order, { headers });
    await forgetAnswer(headers['idempotency-key']);
    expect(await capture(merchant, order, { headers })).toMatchObject({ status: 200, body: first.body });
    expect(outcomeOf(await capture(merchant, order, { headers: { 'idempotency-key': newIdempotencyKey() } }))).toEqual([
      409,
      'Conflict',
    ]);
    expect(await ledgerOf(merchant, order)).toHaveLength(2);
  });

  test('with another body, path or operation: 422 IdempotencyKeyReused', async () => {
    const order = await createAuthorization(merchant);
    const headers = { 'idempotency-key': newIdempotencyKey() };
    await capturePart(merchant, order, part(100), { headers });
    const others = [
      capturePart(merchant, order, part(101), { headers }),
      capture(merchant, order, { headers }),
      voidPart(merchant, order, part(100), { headers }),
      capturePart(merchant, await createAuthorization(merchant), part(100), { headers }),
    ];
    for (const answer of await Promise.all(others)) expect(outcomeOf(answer)).toEqual([422, 'IdempotencyKeyReused']);
    expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 1000', 'capture approved 100']);
  });

  test('rules 11.5: "more than is left" is kept, although more may be left later; a body that is wrong by itself is not', async () => {
    const order = await createAuthorization(merchant, { card: 'capture_refused' });
    const [kept, corrected] = [{ 'idempotency-key': newIdempotencyKey() }, { 'idempotency-key': newIdempotencyKey() }];
    const first = await capturePart(merchant, order, part(1_001), { headers: kept });
    expect([first.status, first.body.error.property_path]).toEqual([400, 'amount']);
    expect(await capturePart(merchant, order, part(1_001), { headers: kept })).toMatchObject({
      status: 400,
      body: first.body,
    });
    expect(outcomeOf(await capturePart(merchant, order, part(1_000), { headers: kept }))).toEqual([
      422,
      'IdempotencyKeyReused',
    ]);
    expect(outcomeOf(await capturePart(merchant, order, part(0), { headers: corrected }))).toEqual([
      400,
      'ValidationError',
    ]);
    expect(outcomeOf(await capturePart(merchant, order, part(1_000), { headers: corrected }))).toEqual([200, 'error']);
  });

  test('a Conflict is kept', async () => {
    const sale = await merchant.paidOrder('approved');
    const headers = { 'idempotency-key': newIdempotencyKey() };
    const first = await capture(merchant, sale, { headers });
    expect(await capture(merchant, sale, { headers })).toMatchObject({ status: 409, body: first.body });
  });

  test('without a key each is a capture of its own; at once, no more than is held', async () => {
    const order = await createAuthorization(merchant);
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => capturePart(merchant, order, part(300))));
    expect(httpStatusesOf(answers)).toEqual([200, 200, 200, 400, 400]);
    expect((await amountDetailsOf(merchant, order)).captured).toBe(900);
    expect(await ledgerOf(merchant, order)).toEqual([
      'authorize approved 1000',
      ...Array<string>(3).fill('capture approved 300'),
    ]);
  });

  test('If-Match: 412 for an older version, and of several at once one wins', async () => {
    const order = await createAuthorization(merchant);
    const read_then = await etagOf(merchant, order);
    expect(outcomeOf(await capturePart(merchant, order, part(10), { headers: { 'if-match': '"999"' } }))).toEqual([
      412,
      'PreconditionFailed',
    ]);
    const answers = await Promise.all(
      [1, 2, 3].map((n) => capturePart(merchant, order, part(n), { headers: { 'if-match': read_then } })),
    );
    expect(httpStatusesOf(answers)).toEqual([200, 412, 412]);
    expect(await etagOf(merchant, order)).not.toBe(read_then);
    expect(outcomeOf(await capturePart(merchant, order, part(10), { headers: { 'if-match': read_then } }))).toEqual([
      412,
      'PreconditionFailed',
    ]);
    expect(
      outcomeOf(
        await capturePart(merchant, order, part(10), { headers: { 'if-match': await etagOf(merchant, order) } }),
      ),
    ).toEqual([200, 'completed']);
    // With a key the repeat is answered although its own first run has made the new version.
    const headers = { 'if-match': await etagOf(merchant, order), 'idempotency-key': newIdempotencyKey() };
    const first = await capturePart(merchant, order, part(20), { headers });
    await forgetAnswer(headers['idempotency-key']);
    expect(await capturePart(merchant, order, part(20), { headers })).toMatchObject({ status: 200, body: first.body });
    expect(await ledgerOf(merchant, order)).toHaveLength(4);
  });
});

describe('a delayed authorization', () => {
  const delayed = (expiration_period: string, fields: Record<string, unknown> = {}) =>
    createAuthorization(merchant, { ...fields, transaction: { capture_mode: 'delayed', expiration_period } });

  test('rules 8.2: is captured at the end of its expiration_period by itself', async () => {
    const order = await delayed('PT5S', { description: 'later' });
    const captured = await untilFollowUp(merchant, order, 'is-capture');
    expect(captured).toMatchObject({
      status: 'completed',
      amount: 1_000,
      capture_of_order_id: order.id,
      description: 'later',
    });
    expect(captured.transactions![0]).toMatchObject({
      transaction_type: 'capture',
      events: [{ source: 'service' }, { event: 'accepted' }],
    });
    expect(Date.parse(captured.created)).toBeGreaterThanOrEqual(Date.parse(order.completed!) + 5_000);
    const original = await getWholeOrder(merchant, order);
    expect([statusesOf(original), original.transactions![0]!.captured_amount, original.flags]).toEqual([
      'completed: accepted',
      1_000,
      ['is-test', 'has-captures'],
    ]);
    expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 1000', 'capture approved 1000']);
  });

  test('a partial void reduces it: that much less is captured', async () => {
    const order = await delayed('PT10S');
    expect(outcomeOf(await voidPart(merchant, order, part(400)))).toEqual([200, 'completed']);
    expect((await untilFollowUp(merchant, order, 'is-capture')).amount).toBe(600);
    expect(await amountDetailsOf(merchant, order)).toEqual({
      capturable: 0,
      captured: 600,
      refundable: 600,
      refunded: 0,
      voidable: 0,
      voided: 400,
    });
    expect(await ledgerOf(merchant, order)).toEqual([
      'authorize approved 1000',
      'void approved 400',
      'capture approved 600',
    ]);
  });

  test('rules 8.9: a capture that is refused: error, the rest released, the transaction expired', async () => {
    const order = await delayed('PT5S', { card: 'capture_refused' });
    expect((await untilFollowUp(merchant, order, 'is-capture')).status).toBe('error');
    expect(await untilFollowUp(merchant, order, 'is-void')).toMatchObject({ status: 'completed', amount: 1_000 });
    const lapsed = await untilOrder(
      merchant,
      order,
      'has expired',
      ({ transactions }) => transactions![0]!.status === 'expired',
    );
    expect([statusesOf(lapsed), lapsed.flags]).toEqual(['completed: expired', ['is-test', 'has-voids']]);
    expect(await ledgerOf(merchant, order)).toEqual([
      'authorize approved 1000',
      'capture refused 1000',
      'void approved 1000',
    ]);
  });
});

describe('webhooks', () => {
  test('a webhook for the capture order, none for the original; also for what the service does at the end', async () => {
    const receiver = await startReceiver();
    try {
      const { merchant: own } = await createTestProject({ webhook_url: receiver.url });
      const order = await createAuthorization(own);
      await receiver.waitFor(1);
      const captured = (await capturePart(own, order, part(10))).body;
      await receiver.waitFor(2);
      const elsewhere = new URL('/of-the-order', receiver.url).href;
      const lapsing = await createAuthorization(own, {
        webhook_url: elsewhere,
        transaction: { expiration_period: 'PT5S' },
      });
      const released = await untilFollowUp(own, lapsing, 'is-void');
      expect(released.webhook_url).toBe(elsewhere);
      await receiver.waitFor(4);
      const last = await own.paidOrder('approved');
      await receiver.waitFor(5);
      const told = receiver.received.map(({ path, body }) => [path, webhookOf(body).order_id]);
      expect(told).toEqual([
        ['/hook', order.id],
        ['/hook', captured.id],
        ['/of-the-order', lapsing.id],
        ['/of-the-order', released.id],
        ['/hook', last.id],
      ]);
    } finally {
      await receiver.close();
    }
  }, 300_000);
});

test('an order whose workflow Temporal has deleted can be captured, up to the amount left in the record', async () => {
  const order = await forgotten;
  expect(outcomeOf(await capturePart(merchant, order, part(300)))).toEqual([200, 'completed']);
  expect(outcomeOf(await capturePart(merchant, order, part(701)))).toEqual([400, 'ValidationError']);
  expect(outcomeOf(await capture(merchant, order))).toEqual([200, 'completed']);
  expect(await ledgerOf(merchant, order)).toEqual([
    'authorize approved 1000',
    'capture approved 300',
    'capture approved 700',
  ]);
}, 200_000);
