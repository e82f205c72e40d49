import { presentOrder, timestamp } from '../../api/present';
import { orderSchema } from '../../src/contract/order';
import { moveOrder } from '../../src/db/move-order';
import { findOrderView } from '../../src/db/order-view';
import { NOW, aStoredOrder } from '../support/builders';
import { aDatabase, type TestDatabase } from '../support/database';
import { BY_TOKEN } from '../support/orders';

test.each([
  ['2026-01-15 12:00:05.433502+00', '2026-01-15T12:00:05.433502+00:00'],
  ['2026-01-15T12:00:05.4335+00:00', '2026-01-15T12:00:05.433500+00:00'],
  ['2026-01-15 12:00:05+00', '2026-01-15T12:00:05.000000+00:00'],
  ['2026-01-15T12:00:05.433Z', '2026-01-15T12:00:05.433000+00:00'],
])('surface 3: %s is %s', (stored, shown) => {
  expect(timestamp(stored)).toBe(shown);
});

describe('an order', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await aDatabase();
  });
  afterAll(() => database.close());
  const shown = async (order_id: string) =>
    orderSchema.parse(presentOrder((await findOrderView(database.db, order_id))!, 'https://pay.example'));

  test('what is absent is left out; what was sent empty or null inside free-form data stays', async () => {
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

  test('without a token among the attempts there is an order_url, with one there is none', async () => {
    const byPage = await aStoredOrder(database.db);
    const byToken = await aStoredOrder(database.db, BY_TOKEN);
    expect((await shown(byPage.id)).order_url).toBe(`https://pay.example/pay/${byPage.id}/`);
    expect(await shown(byToken.id)).not.toHaveProperty('order_url');
  });

  test('an order of a live project has empty flags', async () => {
    const { id: order_id } = await aStoredOrder(database.db);
    const view = (await findOrderView(database.db, order_id))!;
    expect(presentOrder({ ...view, is_test: false }, 'https://pay.example').flags).toEqual([]);
  });
});
