import { ForbiddenMove, afterMove, lateApprovalPollAt, planMove, type Change } from '../../../src/domain/move';
import type { OrderRecord } from '../../../src/domain/order-record';
import type { EventSource } from '../../../src/domain/transaction';
import type { TransactionStatus } from '../../../src/domain/transitions';
import { anOrderRecord as anOrder } from '../../support/order-record';

const NOW = 700;

describe('planMove', () => {
  test('moves transaction and order together', () => {
    expect(planMove(anOrder(['new']), { transaction_id: 't1', to: 'accepted' })).toEqual({
      transaction: { transaction_id: 't1', to: 'accepted' },
      order_to: 'completed',
      status_changed: true,
      completes: true,
    });
  });

  test('rules 4.7: an ending takes the open transaction along', () => {
    expect(planMove(anOrder(['pending'], { status: 'processing' }), { ended: 'expired' })).toMatchObject({
      transaction: { transaction_id: 't1', to: 'expired' },
      order_to: 'expired',
      ended: 'expired',
    });
  });

  test('rules 4.10: a declined transaction stays as it is when its order is cancelled', () => {
    const move = planMove(anOrder(['error'], { status: 'processing' }), { ended: 'cancelled' });
    expect(move).toMatchObject({ order_to: 'cancelled', status_changed: true });
    expect(move?.transaction).toBeUndefined();
  });

  test('rules 4.9: an attempt that fails after the end expires the order', () => {
    expect(
      planMove(anOrder(['processing'], { status: 'processing' }), {
        transaction_id: 't1',
        to: 'error',
        ended: 'expired',
      }),
    ).toMatchObject({
      order_to: 'expired',
    });
  });

  test('an approval after the end completes the order', () => {
    expect(
      planMove(anOrder(['processing'], { status: 'processing' }), {
        transaction_id: 't1',
        to: 'accepted',
        ended: 'expired',
      }),
    ).toMatchObject({
      order_to: 'completed',
    });
  });

  test('where it already is, is no move', () => {
    expect(
      planMove(anOrder(['accepted'], { status: 'completed' }), { transaction_id: 't1', to: 'accepted' }),
    ).toBeUndefined();
    expect(
      planMove(anOrder(['expired'], { status: 'expired', ended: 'expired' }), { ended: 'expired' }),
    ).toBeUndefined();
  });

  test.each<[TransactionStatus, TransactionStatus]>([
    ['error', 'accepted'],
    ['processing', 'expired'],
    ['cancelled', 'accepted'],
    ['expired', 'error'],
  ])('refuses %s → %s', (from, to) => {
    expect(() => planMove(anOrder([from], { status: 'processing' }), { transaction_id: 't1', to })).toThrow(
      ForbiddenMove,
    );
  });

  test('refuses a transaction of another order', () => {
    expect(() => planMove(anOrder(['new']), { transaction_id: 'foreign', to: 'accepted' })).toThrow(ForbiddenMove);
  });
});

describe('rules 8.1: an authorization', () => {
  const authorized = (status: TransactionStatus, fields: Partial<OrderRecord> = {}): OrderRecord => {
    const order = anOrder([status], fields);
    return {
      ...order,
      transactions: order.transactions.map((one) => ({
        ...one,
        capture: { capture_mode: 'manual', capture_period: 'P5D', reserved: 0, unanswered: 0, freed: 0 },
      })),
    };
  };

  test('its window begins with acceptance, and holds the whole amount', () => {
    const order = authorized('new');
    const move = planMove(order, { transaction_id: 't1', to: 'accepted', capture_ends_at: 9_000 })!;
    expect(move.transaction).toEqual({ transaction_id: 't1', to: 'accepted', capture_ends_at: 9_000 });
    expect(afterMove(order, move, 1, NOW)).toMatchObject({
      status: 'completed',
      deliveries: [1],
      transactions: [
        {
          status: 'accepted',
          capture: {
            capture_mode: 'manual',
            capture_period: 'P5D',
            capture_ends_at: 9_000,
            reserved: 500,
            unanswered: 0,
          },
        },
      ],
    });
  });

  test('one that is declined holds nothing and has no window', () => {
    const order = authorized('new');
    const { transactions } = afterMove(order, planMove(order, { transaction_id: 't1', to: 'error' })!, undefined, NOW);
    expect(transactions[0]).toMatchObject({
      status: 'error',
      capture: { capture_mode: 'manual', capture_period: 'P5D', reserved: 0, unanswered: 0, freed: 0 },
    });
  });

  test('a sale has no window', () => {
    expect(planMove(anOrder(['new']), { transaction_id: 't1', to: 'accepted' })?.transaction).toEqual({
      transaction_id: 't1',
      to: 'accepted',
    });
  });

  test.each(['cancelled', 'expired'] as const)('the order stays completed when it is voided or lapses: %s', (to) => {
    const order = authorized('accepted', { status: 'completed', moves: 1 });
    const move = planMove(order, { transaction_id: 't1', to })!;
    expect(move).toEqual({
      transaction: { transaction_id: 't1', to },
      order_to: 'completed',
      status_changed: false,
      completes: false,
    });
    expect(afterMove(order, move, undefined, NOW)).toMatchObject({
      status: 'completed',
      moves: 1,
      version: 4,
      transactions: [{ status: to }],
    });
    expect(afterMove(order, move, undefined, NOW).ended).toBeUndefined();
  });

  test.each<[TransactionStatus, TransactionStatus]>([
    ['accepted', 'error'],
    ['accepted', 'processing'],
    ['cancelled', 'expired'],
    ['expired', 'cancelled'],
  ])('refuses %s → %s', (from, to) => {
    expect(() => planMove(authorized(from, { status: 'completed' }), { transaction_id: 't1', to })).toThrow(
      ForbiddenMove,
    );
  });
});

test('afterMove counts only what changed the order', () => {
  const order = anOrder(['error', 'new'], { status: 'processing', moves: 1 });
  const move = planMove(order, { transaction_id: 't2', to: 'error' })!;
  expect(afterMove(order, move, undefined, NOW)).toMatchObject({ status: 'processing', version: 4, moves: 1 });
});

describe('rules 10.11: what a move ends unpaid is polled 15 minutes later, where it may have been approved', () => {
  const NOW = 1_000_000;
  const error: Change = { transaction_id: 't1', to: 'error' };

  test.each<[string, TransactionStatus, Change, EventSource, boolean]>([
    ['cancelled at the issuer', 'pending', { ended: 'cancelled' }, 'customer', true],
    ['expired at the issuer', 'pending', { ended: 'expired' }, 'service', true],
    ['given up, with its outcome unknown', 'processing', error, 'service', true],
    ['declined', 'pending', error, 'processor', false],
    ['cancelled before it was charged', 'new', { ended: 'cancelled' }, 'customer', false],
    ['expired before it was charged', 'new', { ended: 'expired' }, 'service', false],
    ['settled by hand as declined', 'processing', { transaction_id: 't1', to: 'error' }, 'operator', true],
    ['accepted', 'pending', { transaction_id: 't1', to: 'accepted' }, 'processor', false],
  ])('%s', (_title, from, change, source, is_polled) => {
    const order = anOrder([from], { status: from === 'new' ? 'new' : 'processing' });
    const poll_at = lateApprovalPollAt(order, planMove(order, change)!, { source, now: NOW });
    expect(poll_at).toBe(is_polled ? NOW + 15 * 60_000 : undefined);
  });

  test('a card check has nothing to give back', () => {
    const order = anOrder(['pending'], { status: 'processing', amount: 0 });
    const move = planMove(order, { ended: 'expired' })!;
    expect(lateApprovalPollAt(order, move, { source: 'service', now: NOW })).toBeUndefined();
  });

  test('a follow-up order that is settled by hand has no late approval', () => {
    const order = anOrder(['processing'], { status: 'processing', charged_by: null, attempts_max: 1 });
    const move = planMove(order, { transaction_id: 't1', to: 'error' })!;
    expect(lateApprovalPollAt(order, move, { source: 'operator', now: NOW })).toBeUndefined();
  });
});
