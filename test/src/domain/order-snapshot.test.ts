import type { ChargedBy } from '../../../src/domain/order';
import {
  isSettableByHand,
  latestAttempt,
  orderFacts,
  outcomeAwaitedFrom,
  paymentExpiresAt,
  pollPause,
  shouldExpire,
  transactionOf,
  untilPoll,
  withAnswered,
  withPoll,
  withoutLatePoll,
} from '../../../src/domain/order-snapshot';
import type { TransactionStatus } from '../../../src/domain/transitions';
import { anOrderSnapshot as anOrder } from '../../support/domain';

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

test.each<[transactions: TransactionStatus[], ChargedBy | null, from: 'processor' | 'issuer' | undefined]>([
  [['processing'], 'customer', 'processor'],
  [['error', 'processing'], 'customer', 'processor'],
  // With a card token the worker may have died right after charging.
  [['new'], 'token', 'processor'],
  [['accepted'], 'token', undefined],
  [['new'], 'customer', undefined],
  [['pending'], 'customer', 'issuer'],
  [['error'], 'customer', undefined],
  [[], 'customer', undefined],
  // A follow-up order is executed as soon as it is written.
  [['new'], null, 'processor'],
  [['processing'], null, 'processor'],
  [['error'], null, undefined],
])('%j charged by %s: its outcome is awaited from %s', (transactions, charged_by, from) => {
  expect(outcomeAwaitedFrom(anOrder(transactions, { charged_by }))).toBe(from);
});

test('an attempt of the hosted page is awaited from the moment that its charge may have been sent', () => {
  const withLast = (status: TransactionStatus) => {
    const order = anOrder(['error', status]);
    return { ...order, transactions: order.transactions.map((one) => ({ ...one, charge_began: true as const })) };
  };
  const statuses = ['new', 'processing', 'pending', 'error'] as const;
  expect(statuses.map((status) => outcomeAwaitedFrom(withLast(status)))).toEqual([
    'processor',
    'processor',
    'issuer',
    undefined,
  ]);
});

test('the processor is asked less and less often, about a customer at the issuer every five minutes until the end', () => {
  expect([0, 1, 4, 33, 34].map((polls) => pollPause(anOrder(['processing']), polls, 0))).toEqual([
    2_000, 5_000, 30_000, 60_000, 600_000,
  ]);
  const order = anOrder(['pending'], { expires_at: 400_000 });
  const at_issuer = { ...order, transactions: order.transactions.map((one) => ({ ...one, expires_at: 400_000 })) };
  expect([0, 300_000].map((now) => pollPause(at_issuer, 9, now))).toEqual([300_000, 100_000]);
});

test.each<[TransactionStatus, polls: number, poll_at: number | undefined, now: number, wait: number]>([
  // Its first poll is planned with the move.
  ['pending', 0, 100_000, 0, 100_000],
  ['pending', 0, 500_000, 0, 300_000],
  ['pending', 0, 100_000, 100_000, 300_000],
  ['pending', 0, undefined, 0, 300_000],
  // The worker that has just written it polls by its own schedule.
  ['processing', 1, 100, 0, 5_000],
])('%s after %i polls, the next one planned at %s: at %i it waits for %i ms', (status, polls, poll_at, now, wait) => {
  const order = anOrder([status], { expires_at: 1_000_000 });
  const planned = { expires_at: 1_000_000, ...(poll_at !== undefined && { poll_at }) };
  const transactions = order.transactions.map((one) => ({ ...one, ...planned }));
  expect(untilPoll({ ...order, transactions }, polls, now)).toBe(wait);
});

test.each<[TransactionStatus, now: number, settable: boolean]>([
  ['processing', 0, true],
  ['processing', 5_000, true],
  ['pending', 799, false],
  ['pending', 800, true],
  ['error', 5_000, false],
  ['new', 5_000, false],
])('rules 10.14: the outcome of a transaction %s at %i can be set by hand: %s', (status, now, settable) => {
  expect(isSettableByHand(anOrder([status]), now)).toBe(settable);
});

test('the workflow of a reversal has started: its transaction is not asked about again', () => {
  const order = anOrder(['error', 'error']);
  const watched = { ...order, transactions: order.transactions.map((one) => ({ ...one, late_poll_at: 900 })) };
  expect(withoutLatePoll(watched, 't1').transactions).toEqual([
    order.transactions[0],
    { ...order.transactions[1], late_poll_at: 900 },
  ]);
});

test('the facts of its status: attempts oldest first, and whether one was accepted', () => {
  const order = anOrder(['error', 'error', 'accepted'], { status: 'completed' });
  expect(orderFacts(order)).toStrictEqual({
    transactions: ['error', 'error', 'accepted'],
    was_accepted: true,
    attempts_max: 5,
  });
  const open = orderFacts({ ...order, status: 'processing', ended: 'expired' });
  expect(open).toMatchObject({ was_accepted: false, ended: 'expired' });
  expect(latestAttempt(order)?.attempt).toBe(3);
});

test('a poll without an outcome is counted in its own transaction', () => {
  const order = anOrder(['error', 'processing']);
  const once = withPoll(order, 't2', 900);
  expect(withPoll(once, 't2', 950)).toEqual({
    ...order,
    transactions: [order.transactions[0], { ...order.transactions[1], poll_at: 950, polls: 2 }],
  });
  expect(transactionOf(once, 't2')).toMatchObject({ poll_at: 900, polls: 1 });
  expect([transactionOf(once, 't3'), transactionOf(once, undefined)]).toEqual([undefined, undefined]);
});

test('an answer about another amount is noted in its own transaction, with the amount and nothing else', () => {
  const order = anOrder(['error', 'processing']);
  const mismatch = { result: 'mismatch' as const, amount: 2, currency: 'USD' };
  expect(withAnswered(order, 't2', mismatch)).toEqual({
    ...order,
    transactions: [order.transactions[0], { ...order.transactions[1], answered: { amount: 2, currency: 'USD' } }],
  });
});
