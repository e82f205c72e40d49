import { recordActivities } from '../../activities/records';
import { findOrderView } from '../../src/db/order-view';
import { NOW, aTransaction, anOrder } from '../support/builders';
import { aDatabase, type TestDatabase } from '../support/database';
import { MINUTE } from '../support/orders';

let database: TestDatabase;
let activities: ReturnType<typeof recordActivities>;
beforeAll(async () => {
  database = await aDatabase();
  activities = recordActivities(database);
});
afterAll(() => database.close());

const input = (over: object = {}) => ({
  order: anOrder(),
  period: 30 * MINUTE,
  is_test: true,
  now: NOW,
  ...over,
});

test('an order is written once; a repeat, also a later one, answers what is there', async () => {
  const request = input();
  const first = await activities.createOrder(request);
  expect(await activities.createOrder({ ...request, now: NOW + MINUTE })).toEqual(first);
  const { created, expires_at } = (await findOrderView(database.db, request.order.id))!;
  expect([Date.parse(created), Date.parse(expires_at!)]).toEqual([NOW, NOW + 30 * MINUTE]);
});

test('windows: an unpaid transaction never outlives its order', async () => {
  const order = anOrder();
  const transaction = { ...aTransaction(order.id), period: 60 * MINUTE };
  const record = await activities.createOrder(input({ order, transaction }));
  expect(record.transactions).toEqual([expect.objectContaining({ status: 'new', expires_at: NOW + 30 * MINUTE })]);
});

test('surface 10: past not_after nothing is written, and the clock is the machine’s', async () => {
  const request = input({ not_after: Date.now() - 1 });
  await expect(activities.createOrder(request)).rejects.toMatchObject({
    type: 'ServiceUnavailable',
    nonRetryable: true,
  });
  expect(await activities.findOrder({ order_id: request.order.id })).toBeNull();
  const inTime = input({ not_after: Date.now() + MINUTE });
  expect((await activities.createOrder(inTime)).status).toBe('new');
});

test('surface 10: what is there goes on, however late the repeat comes', async () => {
  const request = input();
  const first = await activities.createOrder(request);
  expect(await activities.createOrder({ ...request, not_after: Date.now() - 1 })).toEqual(first);
});

test('a database that fails is no refusal: Temporal tries again', async () => {
  const closed = await aDatabase();
  await closed.close();
  await expect(recordActivities(closed).findOrder({ order_id: anOrder().id })).rejects.not.toHaveProperty(
    'nonRetryable',
    true,
  );
});
