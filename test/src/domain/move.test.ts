import {
  ForbiddenMove,
  afterMove,
  firstPollAt,
  lateApprovalPollAt,
  planMove,
  type StatusChange,
} from '../../../src/domain/move';
import type { OrderSnapshot, TransactionSnapshot } from '../../../src/domain/order-snapshot';
import type { EventSource } from '../../../src/domain/transaction';
import type { TransactionStatus } from '../../../src/domain/transitions';
import { anOrderSnapshot as anOrder } from '../../support/domain';

const NOW = 700;
const DETAILS = { source: 'processor', now: NOW } as const;

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

  test('rules 4.7: an order that nobody has tried to pay ends without a transaction', () => {
    const order = anOrder([]);
    const move = planMove(order, { ended: 'expired' })!;
    expect(move).toEqual({ order_to: 'expired', ended: 'expired', status_changed: true, completes: false });
    expect(afterMove(order, move, undefined, DETAILS)).toEqual({
      ...order,
      status: 'expired',
      ended: 'expired',
      version: order.version + 1,
      deliveries: [],
    });
  });

  test.each(['cancelled', 'expired'] as const)('the end of its transaction is the end of an order: %s', (to) => {
    const order = anOrder(['pending'], { status: 'processing' });
    expect(planMove(order, { transaction_id: 't1', to })).toMatchObject({ order_to: to, ended: to });
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
    ).toEqual({
      transaction: { transaction_id: 't1', to: 'accepted' },
      order_to: 'completed',
      status_changed: true,
      completes: true,
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

  test('refuses a transaction of another order', () => {
    expect(() => planMove(anOrder(['new']), { transaction_id: 'foreign', to: 'accepted' })).toThrow(ForbiddenMove);
  });
});

describe('rules 8.1: an authorization', () => {
  const authorized = (status: TransactionStatus, fields: Partial<OrderSnapshot> = {}): OrderSnapshot => {
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
    expect(afterMove(order, move, 1, DETAILS)).toMatchObject({
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
    const { transactions } = afterMove(
      order,
      planMove(order, { transaction_id: 't1', to: 'error' })!,
      undefined,
      DETAILS,
    );
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
    const order = authorized('accepted', { status: 'completed' });
    const move = planMove(order, { transaction_id: 't1', to })!;
    expect(move).toEqual({
      transaction: { transaction_id: 't1', to },
      order_to: 'completed',
      status_changed: false,
      completes: false,
    });
    expect(afterMove(order, move, undefined, DETAILS)).toMatchObject({
      status: 'completed',
      version: 4,
      transactions: [{ status: to }],
    });
    expect(afterMove(order, move, undefined, DETAILS).ended).toBeUndefined();
  });
});

test('afterMove counts only what changed the order', () => {
  const order = anOrder(['error', 'new'], { status: 'processing' });
  const move = planMove(order, { transaction_id: 't2', to: 'error' })!;
  expect(afterMove(order, move, undefined, DETAILS)).toMatchObject({ status: 'processing', version: 4 });
});

describe('rules 10.11: what a move ends unpaid is polled 15 minutes later, where it may have been approved', () => {
  const NOW = 1_000_000;
  const error: StatusChange = { transaction_id: 't1', to: 'error' };

  test.each<[string, TransactionStatus, StatusChange, EventSource, boolean]>([
    ['cancelled at the issuer', 'pending', { ended: 'cancelled' }, 'customer', true],
    ['expired at the issuer', 'pending', { ended: 'expired' }, 'service', true],
    ['given up, with its outcome unknown', 'processing', error, 'service', true],
    ['declined', 'pending', error, 'processor', false],
    ['cancelled before it was charged', 'new', { ended: 'cancelled' }, 'customer', false],
    ['expired before it was charged', 'new', { ended: 'expired' }, 'service', false],
    ['given up, with its customer at the issuer', 'pending', error, 'service', true],
    ['set by hand as declined', 'processing', { transaction_id: 't1', to: 'error' }, 'operator', true],
    ['accepted', 'pending', { transaction_id: 't1', to: 'accepted' }, 'processor', false],
    ['set by hand as approved', 'processing', { transaction_id: 't1', to: 'accepted' }, 'operator', false],
  ])('%s', (_title, from, change, source, is_polled) => {
    const order = anOrder([from], { status: from === 'new' ? 'new' : 'processing' });
    const poll_at = lateApprovalPollAt(order, planMove(order, change)!, { source, now: NOW });
    expect(poll_at).toBe(is_polled ? NOW + 15 * 60_000 : undefined);
  });

  test.each<[string, Partial<OrderSnapshot>, Partial<TransactionSnapshot>]>([
    ['an attempt whose charge may have been sent', {}, { charge_began: true }],
    ['a charge by token', { charged_by: 'token' }, {}],
  ])('%s is watched, whatever ends it first', (_title, fields, began) => {
    const order = anOrder(['new'], fields);
    const sent = { ...order, transactions: order.transactions.map((one) => ({ ...one, ...began })) };
    const move = planMove(sent, { ended: 'expired' })!;
    const details = { source: 'service', now: NOW } as const;
    expect(lateApprovalPollAt(sent, move, details)).toBe(NOW + 15 * 60_000);
    // The workflow learns it from the record.
    expect(afterMove(sent, move, undefined, details).transactions[0]).toMatchObject({
      status: 'expired',
      late_poll_at: NOW + 15 * 60_000,
    });
  });

  test('an attempt before the one whose outcome is awaited is not watched', () => {
    const order = anOrder(['processing', 'pending'], { status: 'processing' });
    expect(lateApprovalPollAt(order, planMove(order, error)!, { source: 'service', now: NOW })).toBeUndefined();
  });

  test('a card check has nothing to give back', () => {
    const order = anOrder(['pending'], { status: 'processing', amount: 0 });
    const move = planMove(order, { ended: 'expired' })!;
    expect(lateApprovalPollAt(order, move, { source: 'service', now: NOW })).toBeUndefined();
  });

  test('a follow-up order whose outcome is set by hand has no late approval', () => {
    const order = anOrder(['processing'], { status: 'processing', charged_by: null, attempts_max: 1 });
    const move = planMove(order, { transaction_id: 't1', to: 'error' })!;
    expect(lateApprovalPollAt(order, move, { source: 'operator', now: NOW })).toBeUndefined();
  });
});

test('rules 10.3: an open outcome is polled two seconds later, a customer at the issuer after five minutes', () => {
  const statuses = ['processing', 'pending', 'new', 'accepted', 'error', 'expired', undefined] as const;
  expect(statuses.map((to) => firstPollAt(to, NOW))).toEqual([
    NOW + 2_000,
    NOW + 300_000,
    ...[undefined, undefined, undefined, undefined, undefined],
  ]);
  const order = anOrder(['error', 'new'], { status: 'processing' });
  const open = afterMove(order, planMove(order, { transaction_id: 't2', to: 'processing' })!, 2, DETAILS);
  expect(open).toEqual({
    ...order,
    status: 'see-transactions',
    version: 4,
    deliveries: [2],
    transactions: [order.transactions[0], { ...order.transactions[1], status: 'processing', poll_at: NOW + 2_000 }],
  });
  const { transactions } = afterMove(open, planMove(open, { transaction_id: 't2', to: 'accepted' })!, 3, DETAILS);
  expect(transactions[1]).toEqual({ ...order.transactions[1], status: 'accepted' });
});

test('a move that a table forbids says from where to where', () => {
  const paid = anOrder(['accepted'], { status: 'completed' });
  expect(() => planMove(paid, { transaction_id: 't1', to: 'error' })).toThrow('transaction accepted → error');
  expect(() => planMove(paid, { transaction_id: 't9', to: 'error' })).toThrow('transaction of another order → error');
  const ended = anOrder(['pending'], { status: 'expired' });
  expect(() => planMove(ended, { transaction_id: 't1', to: 'accepted' })).toThrow('order expired → completed');
});

test.each([
  ['pending', 'processing', undefined],
  ['new', 'processing', 7],
  ['processing', 'pending', 7],
  ['pending', 'accepted', 7],
] as const)('rules 10.3: polls are counted anew once the customer is back: %s to %s leaves %s', (from, to, polls) => {
  const order = anOrder([from], { status: from === 'new' ? 'new' : 'processing' });
  const { id: transaction_id } = order.transactions[0]!;
  const polled = { ...order, transactions: [{ ...order.transactions[0]!, polls: 7 }] };
  const [moved] = afterMove(polled, planMove(polled, { transaction_id, to })!, undefined, DETAILS).transactions;
  expect([moved!.status, moved!.polls]).toEqual([to, polls]);
});
