import { orderSchema, type Order } from '../../src/contract/order';
import { ledgerOf } from '../support/ledger';
import { Merchant, statusesOf } from '../support/merchant';
import {
  amountDetailsOf,
  capture,
  capturePart,
  createAuthorization,
  expectNothingEmpty,
  getWholeOrder,
  outcomeOf,
  part,
  untilFollowUp,
  untilOrder,
  voidPart,
} from '../support/merchant-payments';
import { TIMESTAMP, UUID } from '../support/shapes';

/** Money that is reserved, and taken later: by the merchant (manual) or by the service at the end (delayed). */
const merchant = new Merchant();

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

  test('rules 7.4 and 7.5: windows: the value sent, else P5D for manual and PT30M for delayed', async () => {
    const windowOf = async (capture_mode: string, expiration_period?: string) => {
      const order = await createAuthorization(merchant, {
        transaction: { capture_mode, ...(expiration_period && { expiration_period }) },
      });
      const { expiration_period: shown, is_capturable } = order.transactions![0]!;
      return [shown, is_capturable];
    };
    const [manual, delayed] = ['manual', 'delayed'];
    expect([await windowOf(manual), await windowOf(manual, 'PT2H')]).toEqual([
      ['P5D', true],
      ['PT2H', true],
    ]);
    expect([await windowOf(delayed), await windowOf(delayed, 'P1D')]).toEqual([
      ['PT30M', false],
      ['P1D', false],
    ]);
  });

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
  });
});

describe('a capture', () => {
  test('rules 8.3, 9.1, 9.3 and 9.4: of all: an order of its own that names the original, and is named by it', async () => {
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
    expect(await ledgerOf(merchant, order)).toEqual([
      'authorize approved 1000',
      'capture approved 300',
      'capture approved 500',
      'capture approved 200',
    ]);
  });
});

/** Each waits for the end of its window, beside the others. */
describe('a delayed authorization', () => {
  const delayed = (expiration_period: string, fields: Record<string, unknown> = {}) =>
    createAuthorization(merchant, { ...fields, transaction: { capture_mode: 'delayed', expiration_period } });

  test.concurrent(
    'rules 8.2: is captured by the service at the end of its expiration_period, less what was voided',
    async () => {
      const order = await delayed('PT10S', { description: 'later' });
      expect(outcomeOf(await voidPart(merchant, order, part(400)))).toEqual([200, 'completed']);
      const captured = await untilFollowUp(merchant, order, 'is-capture');
      expect(captured).toMatchObject({
        status: 'completed',
        amount: 600,
        capture_of_order_id: order.id,
        description: 'later',
      });
      expect(captured.transactions![0]).toMatchObject({
        transaction_type: 'capture',
        events: [{ source: 'service' }, { event: 'accepted' }],
      });
      expect(Date.parse(captured.created)).toBeGreaterThanOrEqual(Date.parse(order.completed!) + 10_000);
      const original = await getWholeOrder(merchant, order);
      expect([statusesOf(original), original.flags]).toEqual([
        'completed: accepted',
        ['is-test', 'has-captures', 'has-voids'],
      ]);
      expect(original.amount_details).toEqual({
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
    },
  );

  test.concurrent(
    'rules 8.9: a capture that is refused: error, the rest released, the transaction expired',
    async () => {
      const order = await delayed('PT5S', { card: 'capture_refused' });
      expect((await untilFollowUp(merchant, order, 'is-capture')).status).toBe('error');
      expect(await untilFollowUp(merchant, order, 'is-void')).toMatchObject({ status: 'completed', amount: 1_000 });
      const is_expired = (now: Order) => now.transactions![0]!.status === 'expired';
      const lapsed = await untilOrder(merchant, order, 'has expired', is_expired);
      expect([statusesOf(lapsed), lapsed.flags]).toEqual(['completed: expired', ['is-test', 'has-voids']]);
      expect(await ledgerOf(merchant, order)).toEqual([
        'authorize approved 1000',
        'capture refused 1000',
        'void approved 1000',
      ]);
    },
  );
});
