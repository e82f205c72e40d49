import { recordRows } from '../support/database';
import { Merchant } from '../support/merchant';
import {
  capture,
  createAuthorization,
  httpStatusesOf,
  outcomeOf,
  payingTransactionId,
  refund,
  runConcurrently,
  sendOperationUntilAnswered,
  voidAll,
  type OrderAnswer,
} from '../support/merchant-payments';
import { RACES, until } from '../support/waits';

/**
 * Two requests for the same money at the same moment: one gets it. RACES is a multiple of the length of REFUNDS; by
 * default also of that of OFFSETS_MS, each of them as often as the others.
 */

/** Of a payment of 1000: one of each fits into what is left after those before it, two do not. */
const REFUNDS = [600, 300, 60, 40];
/** Orders under way at a time. */
const LANES = 8;
/**
 * Around the end of the window, in milliseconds: early enough for the capture or the void to win on a slow machine too,
 * a tie, and too late. An odd number of them, as every other order is captured first.
 */
const OFFSETS_MS = [-1_500, -600, -60, -30, -15, 0, 15, 30, 200];
/** Twice as long as the earliest of them is early, so that the answer of a busy machine is there by then. */
const WINDOW_MS = 3_000;
const merchant = new Merchant();

/** The ledger of these orders, asked for at once. */
async function ledgerOf(ids: Set<string>): Promise<Map<string, string[]>> {
  const by_order = new Map<string, string[]>();
  for (const { order_id, operation, result, amount } of await merchant.ledger()) {
    if (!ids.has(order_id)) continue;
    by_order.set(order_id, [...(by_order.get(order_id) ?? []), `${operation} ${result} ${amount}`]);
  }
  return by_order;
}

interface Money {
  order_id: string;
  status: string;
  captured_amount: number;
  voided_amount: number;
  refunded_amount: number;
  pending_amount: number;
}
const moneyOf = (ids: Set<string>) =>
  recordRows<Money>(
    `select order_id, status, captured_amount, voided_amount, refunded_amount, capture_pending_amount + void_pending_amount + refund_pending_amount as pending_amount
     from transactions where order_id = any(:ids)`,
    { ids: [...ids] },
  );

/** How often each was seen. */
function countsOf(values: unknown[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[JSON.stringify(value)] = (counts[JSON.stringify(value)] ?? 0) + 1;
  return counts;
}

/** With the outcome of what was asked for, which a busy machine may not have heard in time for its answer. */
async function untilOutcomeKnown(answer: OrderAnswer): Promise<OrderAnswer> {
  if (answer.status !== 200) return answer;
  return { ...answer, body: await merchant.untilOutcomeKnown(answer.body) };
}

test(`rules 9.9: ${RACES} times two refunds of one payment at once, of which one fits: one refund each, counted at the processor`, async () => {
  const transaction = await merchant.cardTransaction('approved');
  const refunded = await runConcurrently(RACES / REFUNDS.length, LANES, async () => {
    const order = await merchant.untilOutcomeKnown(
      await merchant.createOrder({ amount: 1_000, transactions: [transaction] }),
    );
    const races: OrderAnswer[][] = [];
    for (const amount of REFUNDS) {
      const answers = await Promise.all(
        [0, 1].map(() => sendOperationUntilAnswered(() => refund(merchant, order, { amount }))),
      );
      races.push(await Promise.all(answers.map(untilOutcomeKnown)));
    }
    return { id: order.id, races };
  });
  const races = refunded.flatMap((order) => order.races);
  expect(countsOf(races.map(httpStatusesOf))).toEqual({ '[200,400]': RACES });
  expect(countsOf(races.flat().map(outcomeOf))).toEqual({
    '[200,"completed"]': RACES,
    '[400,"RefundError"]': RACES,
  });
  const ids = new Set(refunded.map(({ id }) => id));
  const ledger = await ledgerOf(ids);
  const expected = ['sale approved 1000', ...REFUNDS.map((amount) => `refund approved ${amount}`)];
  expect([ids.size, countsOf([...ledger.values()])]).toEqual([
    refunded.length,
    { [JSON.stringify(expected)]: refunded.length },
  ]);
  expect(
    countsOf((await moneyOf(ids)).map(({ refunded_amount, pending_amount }) => [refunded_amount, pending_amount])),
  ).toEqual({ '[1000,0]': refunded.length });
}, 300_000);

test(`rules 7.1 and 9.9: ${RACES} authorizations, captured and voided at the instant their window ends: one winner each, the record equal to the ledger`, async () => {
  const vaulted = await merchant.cardTransaction('approved');
  const tied = await runConcurrently(RACES, 2 * LANES, async (n) => {
    const order = await createAuthorization(merchant, {
      transaction: { ...vaulted, expiration_period: `PT${WINDOW_MS / 1_000}S` },
    });
    const accepted = order.transactions![0]!.events!.at(-1)!;
    // The end is counted from acceptance, by the workflow's clock.
    const at = Date.parse(accepted.noticed) + WINDOW_MS + OFFSETS_MS[n % OFFSETS_MS.length]!;
    await new Promise((resolve) => setTimeout(resolve, at - Date.now()));
    const both = n % 2 === 0 ? [capture, voidAll] : [voidAll, capture];
    const answers = await Promise.all(both.map((ask) => sendOperationUntilAnswered(() => ask(merchant, order))));
    return { id: order.id, transaction_id: payingTransactionId(order), answers };
  });
  const ids = new Set(tied.map(({ id }) => id));
  const money = await until(
    'every authorization is over',
    async () => {
      const all = await moneyOf(ids);
      return all.every((one) => one.pending_amount === 0 && one.captured_amount + one.voided_amount === 1_000) && all;
    },
    90_000,
  );
  const ledger = await ledgerOf(ids);
  const ends = money.map(({ order_id, status, captured_amount, voided_amount }) => {
    const { answers } = tied.find(({ id }) => id === order_id)!;
    const won = answers
      .filter((answer) => answer.status === 200)
      .map(({ body }) => body.flags.find((flag) => flag.startsWith('is-') && flag !== 'is-test'));
    return { won, told: httpStatusesOf(answers), status, captured_amount, voided_amount, ledger: ledger.get(order_id) };
  });
  const captured = {
    won: ['is-capture'],
    told: [200, 409],
    status: 'accepted',
    captured_amount: 1_000,
    voided_amount: 0,
    ledger: ['authorize approved 1000', 'capture approved 1000'],
  };
  const voided = {
    won: ['is-void'],
    told: [200, 409],
    status: 'cancelled',
    captured_amount: 0,
    voided_amount: 1_000,
    ledger: ['authorize approved 1000', 'void approved 1000'],
  };
  const expired = { ...voided, won: [], told: [409, 409], status: 'expired' };
  const wins = countsOf(ends);
  const [captures, voids, expiries] = [captured, voided, expired].map((end) => wins[JSON.stringify(end)] ?? 0);
  expect([
    Object.keys(wins).filter((end) => ![captured, voided, expired].some((known) => JSON.stringify(known) === end)),
    captures! + voids! + expiries!,
  ]).toEqual([[], RACES]);
  // It was a tie: each of them wins now and then.
  expect(Math.min(captures!, voids!, expiries!)).toBeGreaterThan(0);
  expect(
    countsOf(tied.flatMap(({ answers }) => answers.filter(({ status }) => status !== 200).map(outcomeOf))),
  ).toEqual({
    '[409,"Conflict"]': voids! + expiries!,
    '[409,"CanNotCancelTransaction"]': captures! + expiries!,
  });
}, 300_000);
