import { presentOrder } from '../../../api/present/order';
import { orderSchema } from '../../../src/contract/order';
import { moveOrder } from '../../../src/db/orders/move-order';
import { findStoredOrder, type StoredTransaction } from '../../../src/db/orders/stored-order';
import type { OrderStatus } from '../../../src/domain/transitions';
import { formatTimestamp } from '../../../api/present/format';
import { createTestDatabase } from '../../support/database';
import { BY_TOKEN, NOW } from '../../support/domain';
import { aStoredOrder } from '../../support/rows';
import { setUp } from '../../support/set-up';

test.each([
  ['2026-01-15 12:00:05.433502+00', '2026-01-15T12:00:05.433502+00:00'],
  ['2026-01-15T12:00:05.4335+00:00', '2026-01-15T12:00:05.433500+00:00'],
  ['2026-01-15 12:00:05+00', '2026-01-15T12:00:05.000000+00:00'],
  ['2026-01-15T12:00:05.433Z', '2026-01-15T12:00:05.433000+00:00'],
])('rules 1.5: the time %s is shown as %s', (stored, shown) => {
  expect(formatTimestamp(stored)).toBe(shown);
});

describe('an order', () => {
  const database = setUp(() => createTestDatabase());
  const shown = async (order_id: string) =>
    orderSchema.parse(presentOrder((await findStoredOrder(database.db, order_id))!, 'https://pay.example'));

  test('rules 1.3: absent fields are left out; empty and null values inside free-form data stay', async () => {
    const extra = { nothing: null, none: [], empty: {} };
    const { id: order_id } = await aStoredOrder(database.db, {
      transaction: false,
      extra,
      payment_methods: [],
      customer: { first_name: 'Ada', phone_numbers: [] },
    });
    const order = await shown(order_id);
    expect([order.extra, order.customer]).toEqual([extra, { first_name: 'Ada' }]);
    expect(Object.keys(order).toSorted()).toEqual(
      [
        'amount',
        'created',
        'currency',
        'customer',
        'expiration_period',
        'expires_at',
        'extra',
        'flags',
        'id',
        'merchant_id',
        'merchant_name',
        'modified',
        'order_url',
        'project_id',
        'status',
      ].toSorted(),
    );
  });

  test('payment_url is there while the transaction can be paid', async () => {
    const record = await aStoredOrder(database.db);
    expect((await shown(record.id)).transactions![0]!.payment_url).toBe(
      `https://pay.example/pay/${record.id}/${record.transactions[0]!.id}/`,
    );
    await moveOrder(database.db, record, { ended: 'expired' }, { source: 'service', now: NOW });
    expect((await shown(record.id)).transactions![0]).not.toHaveProperty('payment_url');
  });

  describe('rules 7.6 and 7.7: when the time for paying or capturing ends', () => {
    const EXPIRES = '2030-01-15T12:30:00.000000+00:00';
    const WINDOW = '2099-01-20T12:00:00.000000+00:00';
    const authorized = { status: 'accepted', capture_mode: 'manual', amount: 500, capture_ends_at: WINDOW } as const;

    test.each<[string, OrderStatus, Partial<StoredTransaction>[], string[]]>([
      ['new, nothing tried', 'new', [], ['order']],
      ['new, announced', 'new', [{ status: 'new' }], ['order', 'transaction 1']],
      ['in 3-D Secure', 'processing', [{ status: 'pending' }], ['order', 'transaction 1']],
      ['declined, may be tried again', 'processing', [{ status: 'error' }], ['order']],
      ['tried again', 'see-transactions', [{ status: 'error' }, { status: 'pending' }], ['order', 'transaction 2']],
      ['outcome unknown', 'processing', [{ status: 'processing' }], []],
      ['declined for the last time', 'error', [{ status: 'error' }], []],
      ['cancelled', 'cancelled', [{ status: 'cancelled' }], []],
      ['expired', 'expired', [{ status: 'expired' }], []],
      ['paid', 'completed', [{ status: 'accepted' }], []],
      ['authorized', 'completed', [authorized], ['capture 1']],
      ['captured in part', 'completed', [{ ...authorized, captured_amount: 499 }], ['capture 1']],
      ['captured', 'completed', [{ ...authorized, captured_amount: 500 }], []],
      ['captured in part, the rest asked for', 'completed', [{ ...authorized, capture_pending_amount: 500 }], []],
      ['after the window', 'completed', [{ ...authorized, capture_ends_at: '2020-01-01T00:00:00Z' }], []],
      ['captured by the service', 'completed', [{ ...authorized, capture_mode: 'delayed' }], []],
    ])('%s', async (_title, status, transactions, expected) => {
      const { id } = await aStoredOrder(database.db);
      const view = (await findStoredOrder(database.db, id))!;
      const [first] = view.transactions;
      const order = orderSchema.parse(
        presentOrder(
          { ...view, status, transactions: transactions.map((over) => ({ ...first!, ...over })) },
          'https://pay.example',
        ),
      );
      const found = [
        ...(order.expires_at === EXPIRES ? ['order'] : []),
        ...(order.transactions ?? []).flatMap(({ expires_at, capture_before }, index) => [
          ...(expires_at === EXPIRES ? [`transaction ${index + 1}`] : []),
          ...(capture_before === WINDOW ? [`capture ${index + 1}`] : []),
        ]),
      ];
      expect(found).toEqual(expected);
    });

    test('follow-up orders have neither', async () => {
      const { id } = await aStoredOrder(database.db);
      const view = (await findStoredOrder(database.db, id))!;
      const followUp = presentOrder({ ...view, kind: 'refund', expires_at: null }, 'https://pay.example');
      expect(followUp).not.toHaveProperty('expires_at');
      expect(followUp.transactions![0]).not.toHaveProperty('expires_at');
    });
  });

  test('without a token among the attempts there is an order_url, with one there is none', async () => {
    const byPage = await aStoredOrder(database.db);
    const byToken = await aStoredOrder(database.db, BY_TOKEN);
    expect((await shown(byPage.id)).order_url).toBe(`https://pay.example/pay/${byPage.id}/`);
    expect(await shown(byToken.id)).not.toHaveProperty('order_url');
  });

  test('an order of a live project has empty flags', async () => {
    const { id: order_id } = await aStoredOrder(database.db);
    const view = (await findStoredOrder(database.db, order_id))!;
    expect(presentOrder({ ...view, is_test: false }, 'https://pay.example').flags).toEqual([]);
  });
});
