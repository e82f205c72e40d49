import {
  awaitsOutcome,
  isAtIssuer,
  shouldExpire,
  isOutcomeOpen,
  lastTransaction,
  orderFacts,
  paymentExpiresAt,
} from '../../../src/domain/order-record';
import type { TransactionStatus } from '../../../src/domain/transitions';
import { anOrderRecord as anOrder } from '../../support/order-record';

describe('the end', () => {
  test('is the transaction’s while it is open, else the order’s', () => {
    expect(paymentExpiresAt(anOrder(['new']))).toBe(800);
    expect(paymentExpiresAt(anOrder(['error']))).toBe(1_000);
    expect(paymentExpiresAt(anOrder())).toBe(1_000);
  });

  test.each<[TransactionStatus, number, boolean]>([
    ['new', 799, false],
    ['new', 800, true],
    ['processing', 5_000, false],
    ['error', 999, false],
    ['error', 1_000, true],
  ])('with a transaction %s at %i: due %s', (status, now, due) => {
    expect(shouldExpire(anOrder([status], { status: 'processing' }), now)).toBe(due);
  });
});

test.each<[transactions: TransactionStatus[], charged_by: 'token' | 'customer', awaited: boolean, at_issuer: boolean]>([
  [['processing'], 'customer', true, false],
  [['error', 'processing'], 'customer', true, false],
  // With a card token the worker may have died right after charging.
  [['new'], 'token', true, false],
  [['accepted'], 'token', false, false],
  [['new'], 'customer', false, false],
  [['pending'], 'customer', false, true],
  [['error'], 'customer', false, false],
  [[], 'customer', false, false],
])(
  '%j charged by %s: its outcome is awaited %s, its customer is at the issuer %s',
  (transactions, charged_by, awaited, at_issuer) => {
    const order = anOrder(transactions, { charged_by });
    expect([awaitsOutcome(order), isAtIssuer(order), isOutcomeOpen(order)]).toEqual([
      awaited,
      at_issuer,
      awaited || at_issuer,
    ]);
  },
);

test('an attempt of the hosted page is awaited from the moment that its charge may have been sent', () => {
  const withLast = (status: TransactionStatus) => {
    const order = anOrder(['error', status]);
    return { ...order, transactions: order.transactions.map((one) => ({ ...one, charge_began: true as const })) };
  };
  const statuses = ['new', 'processing', 'pending', 'error'] as const;
  expect(statuses.map((status) => awaitsOutcome(withLast(status)))).toEqual([true, true, false, false]);
});

test('the facts of its status: attempts oldest first, and whether one was accepted', () => {
  const order = anOrder(['error', 'accepted'], { status: 'completed' });
  expect(orderFacts(order)).toEqual({ transactions: ['error', 'accepted'], was_accepted: true, attempts_max: 5 });
  expect(orderFacts({ ...order, ended: 'expired' })).toMatchObject({ ended: 'expired' });
  expect(lastTransaction(order)?.attempt).toBe(2);
});
