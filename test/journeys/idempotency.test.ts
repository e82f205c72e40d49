import { createOrder, updateOrder, type Order, type OrderRequest } from '../../src/client';
import { severalAtOnce } from '../../src/domain/several-at-once';
import { recordRows } from '../support/database';
import { answerOf, Merchant, statusesOf, type RestAnswer, type RefusalName } from '../support/merchant';
import { RACES, sendUntilAnswered as insistOn } from '../support/waits';

type OrderAnswer = RestAnswer<Order & { error: RefusalName }>;

let keysMade = 0;
const aKey = (name = 'key') => `${name}-${process.pid}-${++keysMade}`;
const create = (merchant: Merchant, key: string, fields: Partial<OrderRequest> = {}): Promise<OrderAnswer> =>
  answerOf(
    createOrder({ idempotencyKey: key, orderRequest: { currency: 'EUR', amount: 1_250, ...fields } }, merchant.project),
  );
const charged = async (merchant: Merchant) => ({ transactions: [await merchant.cardTransaction('approved')] });

const createWithKey = (merchant: Merchant, key: string, fields: Partial<OrderRequest>) =>
  insistOn<OrderAnswer['body']>(() =>
    createOrder({ idempotencyKey: key, orderRequest: { currency: 'EUR', amount: 1_250, ...fields } }, merchant.project),
  );

/** As if the api had been killed at a point: the key's row loses what it got after it. */
async function forget(key: string, what: 'the answer' | 'the claim'): Promise<void> {
  const rows = await recordRows(
    what === 'the answer'
      ? 'update idempotency_keys set status = null, body = null, object_id = null, version = null where key = :key returning key'
      : 'delete from idempotency_keys where key = :key returning key',
    { key },
  );
  expect(rows).toHaveLength(1);
}

describe('the same request with the same key', () => {
  // 1,000 x 8 takes two minutes on two busy cores: IDEMPOTENCY_ORDERS=1000 makes them.
  const ORDERS = Number(process.env['IDEMPOTENCY_ORDERS'] ?? RACES);
  /** Orders under way at a time, 64 requests. More do not make it faster, and bring answers near the API's deadline. */
  const LANES = 8;

  test(`${ORDERS} orders, each sent 8 times at once: as many charges, and all 8 answers are the same`, async () => {
    const merchant = new Merchant();
    const transactions = await charged(merchant);
    const order = async (n: number) => {
      const key = aKey('many');
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => createWithKey(merchant, key, { merchant_order_id: `M-${n}`, ...transactions })),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
      expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      return answers[0]!.body;
    };
    const orders = await severalAtOnce(LANES, Array.from({ length: ORDERS }), (_, n) => order(n));
    const ids = new Set(orders.map(({ id }) => id));
    expect(ids.size).toBe(ORDERS);
    const heard = await Promise.all(orders.map((order) => merchant.untilOutcomeKnown(order)));
    expect(new Set(heard.map(statusesOf))).toEqual(new Set(['completed: accepted']));
    const charges = (await merchant.ledger()).filter(({ order_id }) => ids.has(order_id));
    expect([charges.length, new Set(charges.map(({ order_id }) => order_id)).size]).toEqual([ORDERS, ORDERS]);
  }, 300_000);

  test('rules 11.2: gets the first answer later, although the order has changed since', async () => {
    const merchant = new Merchant();
    const key = aKey();
    const first = await create(merchant, key, { description: 'as it was' });
    await updateOrder({ orderId: first.body.id, orderUpdate: { description: 'changed' } }, merchant.project);
    await merchant.cancelOrder(first.body.id);
    const again = await create(merchant, key, { description: 'as it was' });
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(again.body.status).toBe('new');
  });

  test.each(['the answer', 'the claim'] as const)(
    'when %s got lost: the order of the closed workflow, from the record, and no second charge',
    async (what) => {
      const merchant = new Merchant();
      const [key, fields] = [aKey(), await charged(merchant)];
      const { body: first } = await create(merchant, key, fields);
      await merchant.untilStatus(first.id, 'completed');
      await forget(key, what);
      const again = await create(merchant, key, fields);
      expect([again.status, again.body]).toEqual([200, first]);
      expect(await merchant.ledger(first.id)).toHaveLength(1);
      expect((await create(merchant, key, fields)).body).toEqual(first);
    },
  );
});
