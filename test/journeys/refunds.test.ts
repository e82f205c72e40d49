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
  amountDetailsOf,
  etagOf,
  expectNothingEmpty,
  forgetAnswer,
  makeDue,
  part,
  capturePart,
  payingTransactionId,
  getWholeOrder,
  refund,
  outcomeOf,
  httpStatusesOf,
  voidAll,
} from './requests';

/** Captured money that is given back. */
const merchant = new Merchant();

/** Temporal takes half a minute to forget: it does so while the other tests run. */
let forgotten: Promise<Order>;
beforeAll(() => {
  forgotten = merchant
    .paidOrder('approved', { amount: 900 })
    .then(async (order) => (await deleteWorkflow(order.id), order as Order));
  forgotten.catch(() => undefined);
});

describe('a refund', () => {
  test('rules 9.1 and 9.5: in full: an order of its own with is-refund, refund_of_order_id and a debit transaction that names the original', async () => {
    const order = await merchant.paidOrder('approved', {
      amount: 700,
      description: 'A lamp',
      merchant_order_id: 'M-9',
      extra: { mine: 1 },
      return_url: 'https://shop.example/',
      customer: { first_name: 'Ada' },
    });
    const answer = await refund(merchant, order, { amount: 700 });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
    const refunded = orderSchema.parse(answer.body);
    expect(refunded).toEqual({
      id: UUID,
      project_id: order.project_id,
      merchant_id: order.merchant_id,
      merchant_name: 'Demo Books',
      merchant_order_id: 'M-9',
      description: 'A lamp',
      currency: 'EUR',
      amount: 700,
      status: 'completed',
      flags: ['is-test', 'is-refund'],
      created: TIMESTAMP,
      modified: TIMESTAMP,
      completed: TIMESTAMP,
      refund_of_order_id: order.id,
      related_order_id: order.id,
      transactions: [
        {
          id: UUID,
          order_id: refunded.id,
          created: TIMESTAMP,
          modified: TIMESTAMP,
          amount: 700,
          currency: 'EUR',
          credit_debit: 'debit',
          payment_method: 'credit-card-refund',
          payment_method_brand: 'visa',
          payment_method_details: {
            truncated_pan: '411111******1111',
            card_expiry: '122034',
            cardholder_name: 'Ada Lovelace',
          },
          transaction_type: 'refund',
          refund_of_transaction_id: order.transactions![0]!.id,
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
    expect(await merchant.getOrder(refunded.id)).toEqual(refunded);

    const original = orderSchema.parse(await getWholeOrder(merchant, order));
    expect(original).toMatchObject({
      status: 'completed',
      refunded_amount: 700,
      refund_orders: [refunded.id],
      related_orders: [refunded.id],
      flags: ['is-test', 'has-refunds'],
    });
    expect(original.amount_details).toEqual({
      capturable: 0,
      captured: 700,
      refundable: 0,
      refunded: 700,
      voidable: 0,
      voided: 0,
    });
    expect(statusesOf(original)).toBe('completed: accepted');
    expectNothingEmpty(original);
    expect(await ledgerOf(merchant, order)).toEqual(['sale approved 700', 'refund approved 700']);
  });

  test('in parts, with a description, reference and extra of its own; repeated while the total stays within the original amount', async () => {
    const order = await merchant.paidOrder('approved', { amount: 1_000, description: 'A lamp' });
    const extra = { why: { list: [1, null, {}], empty: [] } };
    const first = await refund(
      merchant,
      order,
      { amount: 600, description: 'Broken', merchant_order_id: 'R-1', extra },
      { slash: false },
    );
    expect(first.body).toMatchObject({
      amount: 600,
      description: 'Broken',
      merchant_order_id: 'R-1',
      status: 'completed',
    });
    expect(first.body.extra).toEqual(extra);
    expect((await merchant.getOrder(first.body.id)).extra).toEqual(extra);
    const second = await refund(merchant, order, { amount: 399 });
    expect(second.body).toMatchObject({ amount: 399, description: 'A lamp' });
    expect(second.body).not.toHaveProperty('extra');
    const over = await refund(merchant, order, { amount: 2 });
    expect(outcomeOf(over)).toEqual([400, 'RefundError']);
    expect(outcomeOf(await refund(merchant, order, { amount: 1 }))).toEqual([200, 'completed']);
    expect(outcomeOf(await refund(merchant, order, { amount: 1 }))).toEqual([400, 'RefundError']);
    const original = await getWholeOrder(merchant, order);
    expect([original.refunded_amount, original.refund_orders!.length, original.related_orders]).toEqual([
      1_000,
      3,
      original.refund_orders,
    ]);
    expect(await ledgerOf(merchant, order)).toEqual([
      'sale approved 1000',
      'refund approved 600',
      'refund approved 399',
      'refund approved 1',
    ]);
  });

  test('of an authorization: what was captured, no more', async () => {
    const order = await createAuthorization(merchant);
    expect(outcomeOf(await refund(merchant, order, { amount: 1 }))).toEqual([400, 'RefundError']);
    await capturePart(merchant, order, part(400));
    expect(outcomeOf(await refund(merchant, order, { amount: 401 }))).toEqual([400, 'RefundError']);
    expect((await refund(merchant, order, { amount: 400 })).body.transactions![0]).toMatchObject({
      refund_of_transaction_id: payingTransactionId(order),
      status: 'accepted',
    });
    expect(await amountDetailsOf(merchant, order)).toEqual({
      capturable: 600,
      captured: 400,
      refundable: 0,
      refunded: 400,
      voidable: 600,
      voided: 0,
    });
  });

  test('of the attempt that paid, where others were declined', async () => {
    const order = await merchant.createOrder();
    const customer = new Client();
    await customer.postForm(`/pay/${order.id}/`, {
      ...CARD,
      number: CARDS.do_not_honor.number,
      ...(await customer.openPage(order)),
    });
    await customer.postForm(`/pay/${order.id}/`, { ...CARD, ...(await customer.openPage(order)) });
    const paid = await getWholeOrder(merchant, order);
    expect((await refund(merchant, order, { amount: 50 })).body.transactions![0]!.refund_of_transaction_id).toBe(
      paid.transactions![1]!.id,
    );
    expect((await getWholeOrder(merchant, order)).order_url).toBe(order.order_url);
  });

  test.each([
    ['an amount of 0', { amount: 0 }, 'RefundError', undefined],
    ['more than was paid', { amount: 501 }, 'RefundError', undefined],
    ['the largest amount', { amount: Number.MAX_SAFE_INTEGER }, 'RefundError', undefined],
    ['a negative amount', { amount: -1 }, 'ValidationError', 'amount'],
    ['half a cent', { amount: 0.5 }, 'ValidationError', 'amount'],
    ['an amount as text', { amount: '5' }, 'ValidationError', 'amount'],
    ['no amount', {}, 'ValidationError', 'amount'],
    ['no body', undefined, 'ValidationError', undefined],
    // An empty list is what PHP makes of an empty object.
    ['a list that is empty', [], 'ValidationError', 'amount'],
    ['a list', [1], 'ValidationError', undefined],
    ['extra that is a list', { amount: 5, extra: [1] }, 'ValidationError', 'extra'],
    ['null', { amount: 5, description: null }, 'ValidationError', 'description'],
    ['a card number', { amount: 5, merchant_order_id: CARDS.approved.number }, 'ValidationError', 'merchant_order_id'],
  ])('refused: %s', async (_title, body, type, property_path) => {
    const order = await merchant.paidOrder('approved', { amount: 500 });
    const answer = await refund(merchant, order, body);
    expect([answer.status, answer.body.error.type, answer.body.error.property_path]).toEqual([
      400,
      type,
      property_path,
    ]);
    expect(await ledgerOf(merchant, order)).toEqual(['sale approved 500']);
    expect(await getWholeOrder(merchant, order)).not.toHaveProperty('related_orders');
  });

  test('refused with RefundError: an unpaid order, declined, cancelled, voided, of 0', async () => {
    const cancelled = await merchant.createOrder();
    await merchant.cancelOrder(cancelled.id);
    const voided = await createAuthorization(merchant);
    await voidAll(merchant, voided);
    for (const order of [
      await merchant.createOrder(),
      await merchant.paidOrder('do_not_honor'),
      cancelled,
      voided,
      await merchant.paidOrder('approved', { amount: 0 }),
    ]) {
      expect(outcomeOf(await refund(merchant, order, { amount: 0 }))).toEqual([400, 'RefundError']);
      expect(outcomeOf(await refund(merchant, order, { amount: 1 }))).toEqual([400, 'RefundError']);
    }
  });

  test('refused with RefundError that names the original: a refund, capture or void order', async () => {
    const order = await createAuthorization(merchant);
    const captured = (await capturePart(merchant, order, part(500))).body;
    const refunded = (await refund(merchant, order, { amount: 100 })).body;
    const voided = (await voidAll(merchant, order)).body;
    for (const follow_up of [captured, refunded, voided]) {
      const { status, body } = await refund(merchant, follow_up, { amount: 1 });
      expect([status, body.error.type, body.error.value.includes(order.id)]).toEqual([400, 'RefundError', true]);
    }
  });

  test('404 for an order that does not exist, 401 for another project, 400 for no uuid', async () => {
    const order = await merchant.paidOrder('approved');
    const { merchant: stranger } = await createTestProject();
    expect(outcomeOf(await refund(merchant, { id: NOBODY }, { amount: 1 }))).toEqual([404, 'NotFound']);
    for (const other of [stranger, new Merchant(stack(), stack().live_api_key)]) {
      expect(outcomeOf(await refund(other, order, { amount: 1 }))).toEqual([401, 'Unauthorized']);
    }
    expect((await refund(merchant, { id: 'x' }, { amount: 1 })).body.error).toMatchObject({
      type: 'ValidationError',
      property_path: 'order_id',
    });
  });
});

describe('answers of the processor', () => {
  test('rules 9.2: refused: 200 with status error, and the amount is refundable again', async () => {
    const order = await merchant.paidOrder('refund_refused', { amount: 500 });
    for (const round of [1, 2]) {
      const { status, body } = await refund(merchant, order, { amount: 500 });
      expect([status, statusesOf(body)]).toEqual([200, 'error: error']);
      expect(body.transactions![0]!.outcomes!.processing).toMatchObject({ status: 'error', response_code: '57' });
      expect(body).not.toHaveProperty('completed');
      const original = await getWholeOrder(merchant, order);
      expect([original.refund_orders!.length, original.amount_details!.refundable, original.flags]).toEqual([
        round,
        500,
        ['is-test'],
      ]);
      expect(original).not.toHaveProperty('refunded_amount');
    }
    expect(await ledgerOf(merchant, order)).toEqual(['sale approved 500', 'refund refused 500', 'refund refused 500']);
  });

  test('processing: 200, the amount is reserved for it; completed later, with a webhook', async () => {
    const receiver = await startReceiver();
    try {
      const order = await merchant.paidOrder('refund_processing', { amount: 500, webhook_url: receiver.url });
      await receiver.waitFor(1);
      const { status, body } = await refund(merchant, order, { amount: 300 });
      expect([status, statusesOf(body)]).toEqual([200, 'processing: processing']);
      expect(body.transactions![0]).not.toHaveProperty('outcomes');
      expect(await amountDetailsOf(merchant, order)).toMatchObject({ refundable: 200, refunded: 0 });
      expect(outcomeOf(await refund(merchant, order, { amount: 201 }))).toEqual([400, 'RefundError']);
      expect((await getWholeOrder(merchant, order)).flags).toEqual(['is-test']);
      await makeDue(merchant, payingTransactionId(order));
      const refunded = await merchant.untilStatus(body.id, 'completed');
      expect(refunded.transactions![0]!.events!.map(({ event }) => event)).toEqual(['new', 'processing', 'accepted']);
      expect(await amountDetailsOf(merchant, order)).toMatchObject({ refundable: 200, refunded: 300 });
      expect((await getWholeOrder(merchant, order)).flags).toEqual(['is-test', 'has-refunds']);
      // new → processing, processing → completed; of the original nothing more.
      await receiver.waitFor(3);
      expect(receiver.received.map((one) => webhookOf(one.body).order_id)).toEqual([order.id, body.id, body.id]);
      expect(await ledgerOf(merchant, order)).toEqual(['sale approved 500', 'refund approved 300']);
    } finally {
      await receiver.close();
    }
  }, 300_000);
});

describe('webhooks', () => {
  test('a refund sends its own, to the address of the original; refund and flags alone tell nothing of the original', async () => {
    const receiver = await startReceiver();
    try {
      const { merchant: own, id: project_id } = await createTestProject({ webhook_url: receiver.url });
      const elsewhere = new URL('/of-the-order', receiver.url).href;
      const order = await own.paidOrder('approved', { webhook_url: elsewhere });
      // Webhooks of two orders keep no order between them.
      await receiver.waitFor(1);
      const refunded = (await refund(own, order, { amount: 10 })).body;
      expect(refunded.webhook_url).toBe(elsewhere);
      await receiver.waitFor(2);
      const last = await own.paidOrder('approved');
      await receiver.waitFor(3);
      expect(receiver.received.map(({ path, body }) => [path, webhookOf(body)])).toEqual(
        [
          ['/of-the-order', order.id],
          ['/of-the-order', refunded.id],
          ['/hook', last.id],
        ].map(([path, order_id]) => [path, { event: 'status_changed', order_id, project_id }]),
      );
    } finally {
      await receiver.close();
    }
  }, 300_000);
});

describe('the second time', () => {
  test('with the same Idempotency-Key: the first answer, one refund; also at once, and after its answer got lost', async () => {
    const order = await merchant.paidOrder('approved', { amount: 1_000 });
    const headers = { 'idempotency-key': newIdempotencyKey() };
    const answers = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(() => refund(merchant, order, { amount: 600 }, { headers })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    await forgetAnswer(headers['idempotency-key']);
    // More than is left by now, which is its own doing.
    expect(await refund(merchant, order, { amount: 600 }, { headers })).toMatchObject({
      status: 200,
      body: answers[0]!.body,
    });
    expect(await ledgerOf(merchant, order)).toEqual(['sale approved 1000', 'refund approved 600']);
  });

  test('with another body or order: 422 IdempotencyKeyReused, and nothing is given back', async () => {
    const [order, other] = [await merchant.paidOrder('approved'), await merchant.paidOrder('approved')];
    const headers = { 'idempotency-key': newIdempotencyKey() };
    await refund(merchant, order, { amount: 10 }, { headers });
    expect(outcomeOf(await refund(merchant, order, { amount: 11 }, { headers }))).toEqual([
      422,
      'IdempotencyKeyReused',
    ]);
    expect(outcomeOf(await refund(merchant, other, { amount: 10 }, { headers }))).toEqual([
      422,
      'IdempotencyKeyReused',
    ]);
    expect([await ledgerOf(merchant, order), await ledgerOf(merchant, other)].map((lines) => lines.length)).toEqual([
      2, 1,
    ]);
  });

  test('a RefundError is kept, although it may be possible later; a processing refund repeats its first answer', async () => {
    const order = await createAuthorization(merchant, { card: 'refund_processing' });
    const [early, later] = [{ 'idempotency-key': newIdempotencyKey() }, { 'idempotency-key': newIdempotencyKey() }];
    const refused = await refund(merchant, order, { amount: 10 }, { headers: early });
    expect(outcomeOf(refused)).toEqual([400, 'RefundError']);
    await capture(merchant, order);
    expect(await refund(merchant, order, { amount: 10 }, { headers: early })).toMatchObject({
      status: 400,
      body: refused.body,
    });
    const processing = await refund(merchant, order, { amount: 10 }, { headers: later });
    expect(outcomeOf(processing)).toEqual([200, 'processing']);
    await makeDue(merchant, payingTransactionId(order));
    await merchant.untilStatus(processing.body.id, 'completed');
    expect((await refund(merchant, order, { amount: 10 }, { headers: later })).body).toEqual(processing.body);
  });

  test('If-Match: 412 for an older version, and of several at once one wins', async () => {
    const order = await merchant.paidOrder('approved', { amount: 1_000 });
    const before = await etagOf(merchant, order);
    const answers = await Promise.all(
      [1, 2, 3].map(() => refund(merchant, order, { amount: 100 }, { headers: { 'if-match': before } })),
    );
    expect(httpStatusesOf(answers)).toEqual([200, 412, 412]);
    expect(await etagOf(merchant, order)).not.toBe(before);
    expect(outcomeOf(await refund(merchant, order, { amount: 100 }, { headers: { 'if-match': before } }))).toEqual([
      412,
      'PreconditionFailed',
    ]);
    expect(outcomeOf(await refund(merchant, order, { amount: 100 }, { headers: { 'if-match': '*' } }))).toEqual([
      200,
      'completed',
    ]);
    expect((await getWholeOrder(merchant, order)).refunded_amount).toBe(200);
  });
});

test('months later, when Temporal has deleted the workflow: it is refunded, up to the amount left', async () => {
  const order = await forgotten;
  const first = await refund(merchant, order, { amount: 600 });
  expect(outcomeOf(first)).toEqual([200, 'completed']);
  expect(outcomeOf(await refund(merchant, order, { amount: 301 }))).toEqual([400, 'RefundError']);
  expect(outcomeOf(await refund(merchant, order, { amount: 300 }))).toEqual([200, 'completed']);
  expect((await getWholeOrder(merchant, order)).refunded_amount).toBe(900);
  expect(await ledgerOf(merchant, order)).toEqual(['sale approved 900', 'refund approved 600', 'refund approved 300']);
}, 200_000);
