import { connect as connectTo } from 'node:net';
import { text } from 'node:stream/consumers';
import { orderSchema } from '../../src/contract/order';
import { Merchant, statusesOf, type Refusal } from '../support/client';
import { NOBODY } from '../support/shapes';
import { createTestProject } from '../support/projects';
import {
  newIdempotencyKey,
  createAuthorization,
  ledgerOf,
  capture,
  capturePart,
  amountDetailsOf,
  etagOf,
  expectNothingEmpty,
  forgetAnswer,
  untilOrder,
  part,
  payingTransactionId,
  getWholeOrder,
  refund,
  outcomeOf,
  httpStatusesOf,
  voidAll,
  voidPart,
} from './requests';

/** Money that is reserved, and released. */
const merchant = new Merchant();
const delayed = (fields: Record<string, unknown> = {}) =>
  createAuthorization(merchant, { ...fields, transaction: { capture_mode: 'delayed', expiration_period: 'PT5S' } });

describe('a void', () => {
  test('rules 8.3 and 8.11: of all: a void order, and the transaction is cancelled while its order stays completed', async () => {
    const order = await createAuthorization(merchant, {
      description: 'A chair',
      merchant_order_id: 'M-8',
      extra: { mine: 1 },
    });
    const { status, body } = await voidAll(merchant, order);
    const voided = orderSchema.parse(body);
    expect([status, statusesOf(voided)]).toEqual([200, 'completed: accepted']);
    expect(voided).toMatchObject({
      amount: 1_000,
      currency: 'EUR',
      void_of_order_id: order.id,
      related_order_id: order.id,
      description: 'A chair',
      merchant_order_id: 'M-8',
      flags: ['is-test', 'is-void'],
    });
    expect(voided.transactions).toEqual([
      expect.objectContaining({
        transaction_type: 'void',
        credit_debit: 'debit',
        payment_method: 'credit-card',
        amount: 1_000,
      }),
    ]);
    for (const field of ['order_url', 'expiration_period', 'extra', 'capture_of_order_id', 'refund_of_order_id']) {
      expect(voided).not.toHaveProperty(field);
    }
    for (const field of ['capture_mode', 'is_capturable', 'refund_of_transaction_id', 'payment_url']) {
      expect(voided.transactions![0]).not.toHaveProperty(field);
    }
    expectNothingEmpty(voided);

    const original = orderSchema.parse(await getWholeOrder(merchant, order));
    expect([statusesOf(original), original.flags, original.related_orders]).toEqual([
      'completed: cancelled',
      ['is-test', 'has-voids'],
      [voided.id],
    ]);
    expect(original.completed).toBe(order.completed);
    expect(original.transactions![0]).toMatchObject({ voided_amount: 1_000, is_capturable: false });
    expect(original.transactions![0]!.events!.at(-1)).toMatchObject({ event: 'cancelled', source: 'merchant' });
    expect(original.amount_details).toEqual({
      capturable: 0,
      captured: 0,
      refundable: 0,
      refunded: 0,
      voidable: 0,
      voided: 1_000,
    });
    expectNothingEmpty(original);
    expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 1000', 'void approved 1000']);
  });

  test('of a part: the authorization is reduced, the rest stays capturable', async () => {
    const order = await createAuthorization(merchant);
    expect((await voidPart(merchant, order, part(400), { slash: false })).body).toMatchObject({
      amount: 400,
      description: 'a part of 400',
      status: 'completed',
    });
    const reduced = await getWholeOrder(merchant, order);
    expect([
      statusesOf(reduced),
      reduced.transactions![0]!.is_capturable,
      reduced.transactions![0]!.voided_amount,
    ]).toEqual(['completed: accepted', true, 400]);
    expect(reduced.amount_details).toMatchObject({ capturable: 600, voidable: 600, voided: 400 });
    expect(outcomeOf(await capturePart(merchant, order, part(601)))).toEqual([400, 'ValidationError']);
    expect((await capture(merchant, order)).body.amount).toBe(600);
    expect(await ledgerOf(merchant, order)).toEqual([
      'authorize approved 1000',
      'void approved 400',
      'capture approved 600',
    ]);
  });

  test('"not yet captured" is read per amount: after a partial capture the rest is voided, the captured part refunded', async () => {
    const order = await createAuthorization(merchant);
    await capturePart(merchant, order, part(250));
    expect((await voidAll(merchant, order, { slash: false })).body.amount).toBe(750);
    const original = await getWholeOrder(merchant, order);
    // Something was taken: the transaction stays accepted.
    expect([statusesOf(original), original.transactions![0]!.is_capturable]).toEqual(['completed: accepted', false]);
    expect(original.amount_details).toEqual({
      capturable: 0,
      captured: 250,
      refundable: 250,
      refunded: 0,
      voidable: 0,
      voided: 750,
    });
    expect(outcomeOf(await refund(merchant, order, { amount: 251 }))).toEqual([400, 'RefundError']);
    expect(outcomeOf(await refund(merchant, order, { amount: 250 }))).toEqual([200, 'completed']);
    expect((await getWholeOrder(merchant, order)).flags).toEqual([
      'is-test',
      'has-captures',
      'has-voids',
      'has-refunds',
    ]);
  });

  test('several parts to the last: the transaction is cancelled then', async () => {
    const order = await createAuthorization(merchant);
    for (const amount of [1, 499]) await voidPart(merchant, order, part(amount));
    expect(statusesOf(await getWholeOrder(merchant, order))).toBe('completed: accepted');
    expect(outcomeOf(await voidPart(merchant, order, part(501)))).toEqual([400, 'ValidationError']);
    await voidPart(merchant, order, part(500));
    expect(statusesOf(await getWholeOrder(merchant, order))).toBe('completed: cancelled');
    expect(outcomeOf(await voidPart(merchant, order, part(1)))).toEqual([409, 'CanNotCancelTransaction']);
    expect(outcomeOf(await voidAll(merchant, order))).toEqual([409, 'CanNotCancelTransaction']);
    expect(outcomeOf(await capture(merchant, order))).toEqual([409, 'Conflict']);
    expect(outcomeOf(await refund(merchant, order, { amount: 1 }))).toEqual([400, 'RefundError']);
  });

  test('rules 8.2: delayed is voided like manual; in full, nothing is captured at the end', async () => {
    const order = await delayed();
    expect(outcomeOf(await voidAll(merchant, order))).toEqual([200, 'completed']);
    expect(statusesOf(await getWholeOrder(merchant, order))).toBe('completed: cancelled');
    // The end of this one comes after that of the first.
    const later = await delayed();
    await untilOrder(merchant, later, 'is captured', ({ transactions }) => transactions![0]!.captured_amount === 1_000);
    expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 1000', 'void approved 1000']);
  });

  test.each([
    ['more than is left', part(701), 'amount'],
    ['an amount of 0', part(0), 'amount'],
    ['a negative amount', part(-1), 'amount'],
    ['half a cent', part(0.5), 'amount'],
    ['an amount as text', { ...part(1), amount: '1' }, 'amount'],
    ['no amount', { description: 'x' }, 'amount'],
    ['no description', { amount: 1 }, 'description'],
  ])('refused with ValidationError: %s', async (_title, body, property_path) => {
    const order = await createAuthorization(merchant);
    await voidPart(merchant, order, part(300));
    const answer = await voidPart(merchant, order, body);
    expect([answer.status, answer.body.error.type, answer.body.error.property_path]).toEqual([
      400,
      'ValidationError',
      property_path,
    ]);
    expect(await ledgerOf(merchant, order)).toHaveLength(2);
  });

  test('refused with CanNotCancelTransaction: a sale, an unpaid order, all captured, a follow-up order, after the window', async () => {
    const captured = await createAuthorization(merchant);
    const follow_up = (await capture(merchant, captured)).body;
    const ended = await createAuthorization(merchant, { transaction: { expiration_period: 'PT1S' } });
    await untilOrder(merchant, ended, 'has lapsed', ({ transactions }) => transactions![0]!.status === 'expired');
    const unpaid = await merchant.createOrder({
      transactions: [{ payment_method: 'credit-card', capture_mode: 'manual' }],
    });
    for (const order of [await merchant.paidOrder('approved'), unpaid, captured, follow_up, ended]) {
      expect([outcomeOf(await voidAll(merchant, order)), outcomeOf(await voidPart(merchant, order, part(1)))]).toEqual([
        [409, 'CanNotCancelTransaction'],
        [409, 'CanNotCancelTransaction'],
      ]);
    }
  });

  test('404 for an order or transaction that does not exist; 401 for another project', async () => {
    const order = await createAuthorization(merchant);
    const { merchant: stranger } = await createTestProject();
    for (const wrong of [
      { id: NOBODY, transactions: order.transactions },
      { id: order.id, transactions: [{ id: NOBODY }] },
    ]) {
      expect([outcomeOf(await voidAll(merchant, wrong)), outcomeOf(await voidPart(merchant, wrong, part(1)))]).toEqual([
        [404, 'NotFound'],
        [404, 'NotFound'],
      ]);
    }
    expect([outcomeOf(await voidAll(stranger, order)), outcomeOf(await voidPart(stranger, order, part(1)))]).toEqual([
      [401, 'Unauthorized'],
      [401, 'Unauthorized'],
    ]);
    expect(await ledgerOf(merchant, order)).toHaveLength(1);
  });
});

/** Byte for byte: fetch adds a Content-Length by itself. Answers status and amount. */
async function postExactly(path: string, headers: string[], body = ''): Promise<[status: number, amount: unknown]> {
  const { hostname, port } = new URL(merchant.stack.api_url);
  const socket = connectTo(Number(port), hostname);
  const authorization = `Authorization: Basic ${Buffer.from(`${merchant.api_key}:`).toString('base64')}`;
  socket.write(
    [
      `POST ${path} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      authorization,
      'Connection: close',
      ...headers,
      '',
      body,
    ].join('\r\n'),
  );
  const answer = await text(socket);
  return [
    Number(answer.split(' ')[1]),
    (JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)) as { amount?: number }).amount,
  ];
}

describe('rules 1.10: captures/ and voids/ without a body', () => {
  const JSON_TYPE = 'Content-Type: application/json';
  test.each(['captures', 'voids'])(
    '%s/: no length and no type, a length of 0, {}; with and without the slash',
    async (what) => {
      for (const [headers, body] of [
        [[]],
        [['Content-Length: 0']],
        [['Content-Length: 0', JSON_TYPE]],
        [['Content-Length: 2', JSON_TYPE], '{}'],
      ] as [string[], string?][]) {
        for (const slash of ['/', '']) {
          const order = await createAuthorization(merchant);
          expect(
            await postExactly(
              `/v1/orders/${order.id}/transactions/${payingTransactionId(order)}/${what}${slash}`,
              headers,
              body,
            ),
          ).toEqual([200, 1_000]);
        }
      }
    },
  );

  test.each(['captures', 'voids'])(
    '%s/ with an amount is refused: who means a part must not get the whole',
    async (what) => {
      const order = await createAuthorization(merchant);
      const refused = await merchant.send<{ error: Refusal }>(
        'POST',
        `/v1/orders/${order.id}/transactions/${payingTransactionId(order)}/${what}/`,
        { body: { amount: 5 } },
      );
      expect([refused.status, refused.body.error.type, refused.body.error.property_path]).toEqual([
        400,
        'ValidationError',
        'amount',
      ]);
      expect(await ledgerOf(merchant, order)).toHaveLength(1);
    },
  );
});

describe('the second time', () => {
  test('with the same Idempotency-Key: the first answer, one void; also at once, and after its answer got lost', async () => {
    const order = await createAuthorization(merchant);
    const headers = { 'idempotency-key': newIdempotencyKey() };
    const answers = await Promise.all([1, 2, 3, 4].map(() => voidAll(merchant, order, { headers })));
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
    await forgetAnswer(headers['idempotency-key']);
    expect(await voidAll(merchant, order, { headers })).toMatchObject({ status: 200, body: answers[0]!.body });
    expect(outcomeOf(await voidPart(merchant, order, part(1_000), { headers }))).toEqual([422, 'IdempotencyKeyReused']);
    expect(await ledgerOf(merchant, order)).toEqual(['authorize approved 1000', 'void approved 1000']);
  });

  test('"more than is left" and CanNotCancelTransaction are kept', async () => {
    const order = await createAuthorization(merchant);
    const [more, over] = [{ 'idempotency-key': newIdempotencyKey() }, { 'idempotency-key': newIdempotencyKey() }];
    const first = await voidPart(merchant, order, part(1_001), { headers: more });
    expect([first.status, first.body.error.property_path]).toEqual([400, 'amount']);
    await voidAll(merchant, order);
    expect(await voidPart(merchant, order, part(1_001), { headers: more })).toMatchObject({
      status: 400,
      body: first.body,
    });
    const refused = await voidAll(merchant, order, { headers: over });
    expect(outcomeOf(refused)).toEqual([409, 'CanNotCancelTransaction']);
    expect(await voidAll(merchant, order, { headers: over })).toMatchObject({ status: 409, body: refused.body });
  });

  test('capture and void of all at once: one gets it, and the record and the ledger agree', async () => {
    for (let round = 0; round < 5; round += 1) {
      const order = await createAuthorization(merchant);
      const answers = await Promise.all([
        capture(merchant, order),
        voidAll(merchant, order),
        capture(merchant, order),
        voidAll(merchant, order),
      ]);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        expect(['Conflict', 'CanNotCancelTransaction']).toContain(outcomeOf(answer)[1]);
      }
      const { captured, voided } = await amountDetailsOf(merchant, order);
      expect(captured + voided).toBe(1_000);
      expect(await ledgerOf(merchant, order)).toEqual([
        'authorize approved 1000',
        captured > 0 ? 'capture approved 1000' : 'void approved 1000',
      ]);
    }
  });

  test('If-Match: 412 for an older version', async () => {
    const order = await createAuthorization(merchant);
    const before = await etagOf(merchant, order);
    await capturePart(merchant, order, part(1));
    expect(outcomeOf(await voidAll(merchant, order, { headers: { 'if-match': before } }))).toEqual([
      412,
      'PreconditionFailed',
    ]);
    expect(outcomeOf(await voidPart(merchant, order, part(1), { headers: { 'if-match': before } }))).toEqual([
      412,
      'PreconditionFailed',
    ]);
    const now = await etagOf(merchant, order);
    const answers = await Promise.all(
      [1, 2, 3].map(() => voidPart(merchant, order, part(100), { headers: { 'if-match': now } })),
    );
    expect(httpStatusesOf(answers)).toEqual([200, 412, 412]);
    expect((await amountDetailsOf(merchant, order)).voided).toBe(100);
  });
});
