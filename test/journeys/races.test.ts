import { severalAtOnce } from '../../src/domain/several-at-once';
import { recordRows } from '../support/database';
import { Merchant } from '../support/merchant';
import {
  capture,
  createAuthorization,
  httpStatusesOf,
  outcomeInWords,
  payingTransactionId,
  sendOperationUntilAnswered,
  voidAll,
} from '../support/merchant-payments';
import { RACES, until } from '../support/waits';

/**
 * A capture and a void of the same money at the end of its window: one gets it. By default RACES is a multiple of the
 * length of OFFSETS_MS, so that each of them is met as often as the others. Several refunds at once:
 * test/journeys/follow-ups.test.ts.
 */

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

test(`rules 7.1 and 9.9: ${RACES} authorizations, captured and voided at the instant their window ends: one winner each, the record equal to the ledger`, async () => {
  const vaulted = await merchant.cardTransaction('approved');
  const tied = await severalAtOnce(2 * LANES, Array.from({ length: RACES }), async (_, n) => {
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
    countsOf(tied.flatMap(({ answers }) => answers.filter(({ status }) => status !== 200).map(outcomeInWords))),
  ).toEqual({
    '[409,"Conflict"]': voids! + expiries!,
    '[409,"CanNotCancelTransaction"]': captures! + expiries!,
  });
}, 300_000);
