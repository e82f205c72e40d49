import { queryRows, type Database } from '../../../src/db/query';
import { beginAttempt } from '../../../src/db/orders/insert-order';
import { moveOrder } from '../../../src/db/orders/move-order';
import { findOrderSnapshot, loadOrderSnapshot } from '../../../src/db/orders/order-snapshot';
import { ForbiddenMove, planMove, type StatusChange, type Move } from '../../../src/domain/move';
import { latestAttempt, type OrderSnapshot } from '../../../src/domain/order-snapshot';
import type { Ending } from '../../../src/domain/order';
import {
  ORDER_MOVES,
  ORDER_STATUSES,
  TRANSACTION_MOVES,
  TRANSACTION_STATUSES,
  canMove,
  statusesBefore,
  type OrderStatus,
  type TransactionStatus,
} from '../../../src/domain/transitions';
import { createTestDatabase } from '../../support/database';
import { aRequest, aTransaction, NOW } from '../../support/domain';
import { aStoredOrder } from '../../support/rows';
import { setUp } from '../../support/set-up';

/**
 * Every pair of statuses: the table, the plan made from it, the guard in SQL and the API say the same. That the table
 * itself is the one of rules 4.2 is test/src/domain/transitions.test.ts.
 */
const database = setUp(() => createTestDatabase());

const by = { source: 'service', now: NOW } as const;
const pairsOf = <S extends string>(statuses: readonly S[]) =>
  statuses.flatMap((from) => statuses.map((to): [S, S] => [from, to]));
const REFUSED = 'the guard refused';

/** What the domain plans; `undefined` when it refuses, or when the order is there already. */
function planned(order: OrderSnapshot, change: StatusChange): Move | undefined {
  try {
    return planMove(order, change);
  } catch (error) {
    if (error instanceof ForbiddenMove) return undefined;
    throw error;
  }
}

/** Whether Postgres writes what was planned from a wrong idea of the order; what it refuses changes nothing. */
async function isWritten(db: Database, idea: OrderSnapshot, change: StatusChange): Promise<boolean> {
  const before = await findOrderSnapshot(db, idea.id);
  try {
    await moveOrder(db, idea, change, by);
    return true;
  } catch (error) {
    expect(String(error)).toMatch(REFUSED);
    expect(await findOrderSnapshot(db, idea.id)).toEqual(before);
    return false;
  }
}

/** Runs in a transaction that is rolled back, so that the same order serves many tests. */
async function rolledBack(work: (db: Database) => Promise<void>): Promise<void> {
  const trx = await database.db.transaction();
  try {
    // The machine may stall between two statements.
    await queryRows(trx, 'set local idle_in_transaction_session_timeout = 0');
    await work(trx);
  } finally {
    await trx.rollback();
  }
}

/** One step of a way: a status for the last transaction, a further attempt, or the order's end. */
type Step = TransactionStatus | 'next attempt' | `order ${Ending}`;

async function take(order: OrderSnapshot, step: Step): Promise<OrderSnapshot> {
  const { id: order_id } = order;
  if (step === 'next attempt') {
    return await beginAttempt(database.db, order, aTransaction(order_id, { attempt: order.transactions.length + 1 }), {
      created: NOW,
      expires_at: order.expires_at,
      request: aRequest(),
    });
  }
  if (step === 'order cancelled' || step === 'order expired') {
    return await moveOrder(database.db, order, { ended: step === 'order cancelled' ? 'cancelled' : 'expired' }, by);
  }
  return await moveOrder(database.db, order, { transaction_id: latestAttempt(order)!.id, to: step }, by);
}

async function anOrderAfter(steps: readonly Step[], attempts_max = 5): Promise<OrderSnapshot> {
  let order = await aStoredOrder(database.db, { attempts_max });
  for (const step of steps) order = await take(order, step);
  return order;
}

/** The shortest way of moves from `new`, without it. */
function wayTo<S extends string>(moves: { readonly [From in S]: readonly S[] }, to: S, from: S): S[] {
  const ways = new Map<S, S[]>([[from, []]]);
  for (const [status, way] of ways) {
    for (const next of moves[status]) if (!ways.has(next)) ways.set(next, [...way, next]);
  }
  return ways.get(to)!;
}

describe('a transaction', () => {
  /** An order of each status. */
  const orders = {} as Record<TransactionStatus, OrderSnapshot>;
  beforeAll(async () => {
    for (const status of TRANSACTION_STATUSES) {
      orders[status] = await anOrderAfter(wayTo(TRANSACTION_MOVES, status, 'new'));
    }
  });

  describe.each(pairsOf(TRANSACTION_STATUSES))('%s → %s', (from, to) => {
    const allowed = canMove(TRANSACTION_MOVES, from, to);

    test('is planned and written where the table has it, else nothing changes', () =>
      rolledBack(async (db) => {
        const order = orders[from];
        const change = { transaction_id: latestAttempt(order)!.id, to };
        expect(planned(order, change)?.transaction?.to).toBe(allowed ? to : undefined);
        if (allowed || from === to) await moveOrder(db, order, change, by);
        else await expect(moveOrder(db, order, change, by)).rejects.toThrow(ForbiddenMove);
        const after = await loadOrderSnapshot(db, order.id);
        expect(latestAttempt(after)!.status).toBe(allowed ? to : from);
        if (!allowed) expect(after).toEqual(order);
      }));

    // From an order that stands in nobody's way, so that the transaction's own guard decides.
    test('rules 4.1: is written by SQL where the table has it, whatever is believed of the transaction', () =>
      rolledBack(async (db) => {
        const { id: order_id } = orders[from];
        await db('orders')
          .where({ id: order_id })
          .update({ status: 'processing', completed: null, ended: null, ended_by: null });
        const { ended: _, ...order } = await loadOrderSnapshot(db, order_id);
        const [believed] = statusesBefore(TRANSACTION_MOVES, to);
        // Nothing leads back to `new`: there is no move to write.
        if (believed === undefined) return expect([to, allowed]).toEqual(['new', false]);
        const idea = { ...order, transactions: order.transactions.map((one) => ({ ...one, status: believed })) };
        expect(await isWritten(db, idea, { transaction_id: idea.transactions[0]!.id, to })).toBe(allowed);
      }));
  });
});

describe('an order', () => {
  type Target = Exclude<OrderStatus, 'new'>;

  /**
   * What makes an order so, from transactions that wait to be paid: the attempts before, how many there may be, and the
   * last step.
   */
  const MADE_BY: Record<Target, { before?: Step[]; attempts_max?: number; step: Step }> = {
    processing: { step: 'processing' },
    'see-transactions': { before: ['error', 'next attempt'], step: 'processing' },
    completed: { step: 'accepted' },
    error: { attempts_max: 1, step: 'error' },
    cancelled: { step: 'order cancelled' },
    expired: { step: 'order expired' },
  };

  /** An order before the last step to each status. */
  const orders = {} as Record<Target, OrderSnapshot>;
  beforeAll(async () => {
    for (const [to, { before = [], attempts_max }] of Object.entries(MADE_BY)) {
      orders[to as Target] = await anOrderAfter(before, attempts_max);
    }
  });

  /** An order whose row has the status, however it came to it, and the change that would make it `to`. */
  async function aimedAt(
    db: Database,
    from: OrderStatus,
    to: Target,
  ): Promise<{ order: OrderSnapshot; change: StatusChange }> {
    const { step } = MADE_BY[to];
    const { id: order_id } = orders[to];
    const ended = from === 'cancelled' || from === 'expired' ? from : null;
    await db('orders')
      .where({ id: order_id })
      .update({
        status: from,
        ended,
        ended_by: ended && 'service',
        completed: from === 'completed' ? new Date(NOW) : null,
      });
    const order = await loadOrderSnapshot(db, order_id);
    const change: StatusChange =
      step === 'order cancelled' || step === 'order expired'
        ? { ended: to as Ending }
        : { transaction_id: latestAttempt(order)!.id, to: step as TransactionStatus };
    return { order, change };
  }

  describe.each(pairsOf(ORDER_STATUSES).filter((pair): pair is [OrderStatus, Target] => pair[1] !== 'new'))(
    '%s → %s',
    (from, to) => {
      const allowed = canMove(ORDER_MOVES, from, to);

      test('is planned and written where the table has it, else the order stays', () =>
        rolledBack(async (db) => {
          const { order, change } = await aimedAt(db, from, to);
          const plan = planned(order, change);
          expect(plan?.status_changed === true && plan.order_to === to).toBe(allowed);
          await moveOrder(db, order, change, by).catch((error: unknown) => expect(error).toBeInstanceOf(ForbiddenMove));
          expect((await loadOrderSnapshot(db, order.id)).status).toBe(allowed ? to : from);
        }));

      // The transaction is as it is believed, so that the order's own guard decides.
      test('rules 4.1: is written by SQL where the table has it, whatever is believed of the order', () =>
        rolledBack(async (db) => {
          const { order, change } = await aimedAt(db, from, to);
          const { ended: _, ...idea } = {
            ...order,
            status: statusesBefore(ORDER_MOVES, to).find(
              (status) => planned({ ...order, ended: undefined, status } as never, change)?.order_to === to,
            )!,
          };
          expect(planned(idea, change)).toMatchObject({ status_changed: true, order_to: to });
          expect(await isWritten(db, idea, change)).toBe(allowed);
        }));
    },
  );

  /** A way of real moves through each arrow of the table, its last step being the arrow. */
  const WAYS: [arrow: string, steps: Step[], attempts_max: number][] = [
    ['new → processing', ['processing'], 5],
    ['new → completed', ['accepted'], 5],
    ['new → error', ['error'], 1],
    ['new → cancelled', ['order cancelled'], 5],
    ['new → expired', ['order expired'], 5],
    ['processing → see-transactions', ['error', 'next attempt', 'processing'], 5],
    ['processing → completed', ['pending', 'accepted'], 5],
    ['processing → error', ['processing', 'error'], 1],
    ['processing → cancelled', ['error', 'order cancelled'], 5],
    ['processing → expired', ['pending', 'order expired'], 5],
    ['see-transactions → processing', ['error', 'next attempt', 'processing', 'error'], 5],
    ['see-transactions → completed', ['error', 'next attempt', 'pending', 'accepted'], 5],
    ['see-transactions → error', ['error', 'next attempt', 'processing', 'error'], 2],
    ['see-transactions → cancelled', ['error', 'next attempt', 'pending', 'order cancelled'], 5],
    ['see-transactions → expired', ['error', 'next attempt', 'pending', 'order expired'], 5],
  ];

  test('there is a way through every arrow', () => {
    const arrows = pairsOf(ORDER_STATUSES).filter(([from, to]) => canMove(ORDER_MOVES, from, to));
    expect(WAYS.map(([arrow]) => arrow).toSorted()).toEqual(arrows.map((pair) => pair.join(' → ')).toSorted());
  });

  test.each(WAYS)('%s: %j', async (arrow, steps, attempts_max) => {
    const before = await anOrderAfter(steps.slice(0, -1), attempts_max);
    const after = await take(before, steps.at(-1)!);
    expect(`${before.status} → ${after.status}`).toBe(arrow);
    expect(await loadOrderSnapshot(database.db, after.id)).toEqual(after);
  });
});
