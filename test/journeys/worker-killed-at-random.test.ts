import { setTimeout as sleep } from 'node:timers/promises';
import {
  cancelOrder,
  captureTransactionAmount,
  createOrder,
  refundOrder,
  voidTransaction,
  type Order,
  type OrderRequest,
} from '../../src/client';
import { connectDatabase, queryRows } from '../../src/db/connection';
import { CARD, Client } from '../support/customer';
import { CARDS, type CardName } from '../support/domain';
import { killingSeed, killWorkerAtRandom, type Killer } from '../support/killing';
import { Merchant, statusesOf, type Answer } from '../support/merchant';
import { OwnStack } from '../support/stack';
import { sendUntilAnswered, until } from '../support/waits';

/**
 * Everything a merchant and a customer do, on a stack of its own, while its worker is killed with kill -9 at any
 * moment.
 */
const own = new OwnStack('killed');

let killer: Killer | undefined;
let merchant: Merchant;
let token: string;

beforeAll(async () => {
  merchant = new Merchant(await own.start());
  token = await merchant.vaultToken(CARDS.approved.number);
});
afterAll(async () => {
  await killer?.stop();
  await own.discard();
});

const AMOUNT = 1_000;
/**
 * What is under way when the worker is killed waits for Temporal's task time limit, 10 s, and maybe for that of the
 * next one.
 */
const WITHIN_MS = 90_000;

let keysMade = 0;
const aKey = () => `killed-${(keysMade += 1)}`;

/** The order of an answer: every answer is one, whatever was killed. */
function orderOf({ status, body }: Answer<Order>): Order {
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

async function create(fields: Partial<OrderRequest> = {}): Promise<Order> {
  const idempotencyKey = aKey();
  return orderOf(
    await sendUntilAnswered(() =>
      createOrder({ idempotencyKey, orderRequest: { currency: 'EUR', amount: AMOUNT, ...fields } }, merchant.project),
    ),
  );
}

/** Charged at once; the answer may come before the outcome. */
async function paid(over: Record<string, unknown> = {}): Promise<Order> {
  const { id } = await create({
    transactions: [{ payment_method: 'credit-card', payment_method_details: { vault_token: token }, ...over }],
  });
  return await merchant.untilStatus(id, 'completed', WITHIN_MS);
}

/** As a customer does: what was not answered is sent again, the same form. */
async function payOnPage(id: string, card: CardName): Promise<void> {
  const customer = new Client(merchant.stack.api_url);
  const form = { ...CARD, number: CARDS[card].number, ...(await customer.openPage({ id })) };
  await until(
    'the page answers',
    async () => (await customer.postForm(`/pay/${id}/`, form)).status !== 503 || (await sleep(1_000)),
    WITHIN_MS,
  );
}

async function follow(
  call: (
    idempotencyKey: string,
  ) => ReturnType<typeof refundOrder | typeof captureTransactionAmount | typeof voidTransaction>,
): Promise<void> {
  const idempotencyKey = aKey();
  const { id } = orderOf(await sendUntilAnswered(() => call(idempotencyKey)));
  await merchant.untilStatus(id, 'completed', WITHIN_MS);
}
const refund = (orderId: string, amount: number) =>
  follow((idempotencyKey) => refundOrder({ orderId, idempotencyKey, body: { amount } }, merchant.project));
const capture = ({ id, transactions }: Order, amount: number) =>
  follow((idempotencyKey) =>
    captureTransactionAmount(
      { orderId: id, transactionId: transactions![0]!.id!, idempotencyKey, body: { amount, description: 'a parcel' } },
      merchant.project,
    ),
  );
const voidRest = ({ id, transactions }: Order) =>
  follow((idempotencyKey) =>
    voidTransaction({ orderId: id, transactionId: transactions![0]!.id!, idempotencyKey }, merchant.project),
  );

/** What is done with an order, how it ends, and everything the processor may have done for it. */
const STORIES: [title: string, act: () => Promise<string>, ends: string, ledger: string[]][] = [
  [
    'a sale, refunded in two parts',
    async () => {
      const { id } = await paid();
      await refund(id, 300);
      await refund(id, 700);
      return id;
    },
    'completed: accepted',
    ['refund approved 300', 'refund approved 700', 'sale approved 1000'],
  ],
  [
    'paid on the page, refunded at once from two sides',
    async () => {
      const { id } = await create();
      await payOnPage(id, 'approved');
      await merchant.untilStatus(id, 'completed', WITHIN_MS);
      await Promise.all([refund(id, 400), refund(id, 600)]);
      return id;
    },
    'completed: accepted',
    ['refund approved 400', 'refund approved 600', 'sale approved 1000'],
  ],
  [
    'declined on the page, then paid',
    async () => {
      const { id } = await create();
      await payOnPage(id, 'do_not_honor');
      await until(
        'the decline is known',
        async () => statusesOf(await merchant.getOrder(id)) === 'processing: error',
        WITHIN_MS,
      );
      await payOnPage(id, 'approved');
      return id;
    },
    'completed: error accepted',
    ['sale approved 1000', 'sale declined 1000'],
  ],
  [
    'reserved, captured in two parts, the rest voided',
    async () => {
      const order = await paid({ capture_mode: 'manual' });
      await Promise.all([capture(order, 500), capture(order, 200)]);
      await voidRest(order);
      return order.id;
    },
    'completed: accepted',
    ['authorize approved 1000', 'capture approved 200', 'capture approved 500', 'void approved 300'],
  ],
  [
    'reserved and voided',
    async () => {
      const order = await paid({ capture_mode: 'manual' });
      await voidRest(order);
      return order.id;
    },
    'completed: cancelled',
    ['authorize approved 1000', 'void approved 1000'],
  ],
  [
    'reserved, its window ends',
    async () => (await paid({ capture_mode: 'manual', expiration_period: 'PT2S' })).id,
    'completed: expired',
    ['authorize approved 1000', 'void approved 1000'],
  ],
  [
    'captured by the service at the end of its window',
    async () => (await paid({ capture_mode: 'delayed', expiration_period: 'PT2S' })).id,
    'completed: accepted',
    ['authorize approved 1000', 'capture approved 1000'],
  ],
  [
    'cancelled by the merchant',
    async () => {
      const { id } = await create({ transactions: [{ payment_method: 'credit-card' }] });
      // An order that does not answer in time is shown as it is: the merchant asks again.
      await until(
        'cancelled',
        async () =>
          orderOf(await sendUntilAnswered(() => cancelOrder({ orderId: id }, merchant.project))).status === 'cancelled',
        WITHIN_MS,
      );
      return id;
    },
    'cancelled: cancelled',
    [],
  ],
  ['never paid', async () => (await create({ expiration_period: 'PT2S' })).id, 'expired:', []],
];

interface MoneyRow {
  captured: number;
  voided: number;
  refunded: number;
  pending: number;
  follow_ups: string | null;
}

/** What Postgres has of the payment's money and of the orders that followed it. */
async function recordOf(order_id: string): Promise<MoneyRow | undefined> {
  const db = connectDatabase(merchant.stack.postgres_url, { pool_max: 1 });
  try {
    const [row] = await queryRows<MoneyRow>(
      db,
      `select sum(captured_amount)::bigint as captured, sum(voided_amount)::bigint as voided, sum(refunded_amount)::bigint as refunded,
         sum(capture_pending_amount + void_pending_amount + refund_pending_amount)::bigint as pending,
         (select string_agg(f.kind || ' ' || f.status || ' ' || f.amount, ', ' order by f.kind, f.amount) from orders f where f.related_order_id = :order_id) as follow_ups
       from transactions where order_id = :order_id`,
      { order_id },
    );
    return row;
  } finally {
    await db.destroy();
  }
}

/** The sum of what the processor approved of these operations. */
const sumOf = (ledger: Awaited<ReturnType<Merchant['ledger']>>, ...operations: string[]) =>
  ledger
    .filter(({ operation, result }) => operations.includes(operation) && result === 'approved')
    .reduce((sum, { amount }) => sum + amount, 0);

const TIMES = 6;
const LANES = 9;
/** At least. */
const KILLS = 2;
/** Then whatever waits has to come to its end. */
const KILLING_MS = 30_000;
const seed = killingSeed();

test(`${STORIES.length * TIMES} orders or more while the worker is killed at random (KILL_WORKER_SEED=${seed}): each ends as it should, and nothing moves twice`, async () => {
  const acted: { id: string; story: (typeof STORIES)[number] }[] = [];
  const { kills, stop } = (killer = killWorkerAtRandom({
    data_dir: own.data_dir,
    seed,
    least_ms: 2_500,
    most_ms: 7_000,
  }));
  let begun = 0;
  // A fast machine is through before the second kill: it begins again with the list.
  const lane = async () => {
    while (begun < STORIES.length * TIMES || kills.length < KILLS) {
      const next = STORIES[begun++ % STORIES.length]!;
      acted.push({ id: await next[1](), story: next });
    }
  };
  const acting = Promise.all(Array.from({ length: LANES }, lane));
  // A slow one is killed less often in that time.
  const enough = sleep(KILLING_MS).then(() =>
    until('the worker is killed often enough', () => kills.length >= KILLS, WITHIN_MS),
  );
  enough.catch(() => undefined);
  await Promise.race([acting, enough]);
  await stop();
  expect(kills.length).toBeGreaterThanOrEqual(KILLS);
  await acting;

  expect(begun).toBeGreaterThanOrEqual(STORIES.length * TIMES);
  expect(acted).toHaveLength(begun);
  for (const {
    id,
    story: [title, , ends, expected],
  } of acted) {
    await until(`${title}: ${ends}`, async () => statusesOf(await merchant.getOrder(id)) === ends, WITHIN_MS);
    // What the service does by itself at the end of a window may still be to come: the status of a payment does not
    // tell.
    await until(
      `${title}: the processor was asked for everything`,
      async () => (await merchant.ledger(id)).length >= expected.length,
      WITHIN_MS,
    );
    const { ledger, record } = await until(
      `${title}: nothing is under way`,
      async () => {
        const found = await recordOf(id);
        return (
          (found?.pending ?? 0) === 0 &&
          !/ (new|processing) /.test(found?.follow_ups ?? '') && { ledger: await merchant.ledger(id), record: found }
        );
      },
      WITHIN_MS,
    );
    expect([
      title,
      ledger.map(({ operation, result, amount }) => `${operation} ${result} ${amount}`).toSorted(),
    ]).toEqual([title, expected]);
    const followed = ledger
      .filter(({ operation }) => !['sale', 'authorize'].includes(operation))
      .map(({ operation, amount }) => `${operation} completed ${amount}`);
    expect([title, record?.captured ?? 0, record?.voided ?? 0, record?.refunded ?? 0]).toEqual([
      title,
      sumOf(ledger, 'sale', 'capture'),
      sumOf(ledger, 'void'),
      sumOf(ledger, 'refund'),
    ]);
    expect([title, record?.follow_ups?.split(', ').toSorted() ?? []]).toEqual([title, followed.toSorted()]);
  }
}, 480_000);
