import { ForbiddenMove } from '../../../src/domain/move';
import type { OrderSnapshot } from '../../../src/domain/order-snapshot';
import {
  contradictionOf,
  isApproved,
  isDeclined,
  isMismatch,
  isOutcomeMissing,
  isUndecided,
  moveForManualOutcome,
  outcomeOf,
  planOutcome,
  planManualOutcome,
  type ChargeOutcome,
  type ProcessorResult,
} from '../../../src/domain/outcome';
import type { TransactionStatus } from '../../../src/domain/transitions';
import { anOrderSnapshot } from '../../support/domain';

const answer = (result: ProcessorResult['result'], over: Partial<ProcessorResult> = {}): ProcessorResult => ({
  result,
  response_code: '05',
  response_code_description: 'Do not honor',
  occurred: '2030-01-15T11:59:59Z',
  ...over,
});

describe('what is recorded of an outcome', () => {
  test.each([
    ['approved', 'accepted', 'approved', undefined],
    ['declined', 'error', 'declined', '05'],
    ['refused', 'error', 'failed', undefined],
    ['error', 'error', 'failed', undefined],
    ['challenge', 'pending', undefined, undefined],
    ['processing', 'processing', undefined, undefined],
  ] as const)('rules 4.11: %s: %s, by the processor at its instant', (result, status, event_result, iso_code) => {
    const { to, details } = outcomeOf(answer(result), { now: 1_000, clock_offset_ms: 0 });
    expect([to, details.source, details.now, details.occurred]).toEqual([
      status,
      'processor',
      1_000,
      '2030-01-15T11:59:59Z',
    ]);
    expect([details.result, details.authorization_iso_response_code]).toEqual([event_result, iso_code]);
    expect(details.transaction).toMatchObject({
      response_code: result === 'approved' ? '00' : '05',
      response_code_description: 'Do not honor',
    });
  });

  test.each([
    ['approved', '00', 'Approved'],
    ['refused', undefined, undefined],
    ['processing', undefined, undefined],
  ] as const)('rules 4.8: %s without a response code is recorded as %s', (result, response_code, description) => {
    const without_code = answer(result, { response_code: undefined, response_code_description: undefined });
    const { details } = outcomeOf(without_code, { now: 1_000, clock_offset_ms: 0 });
    expect(details.transaction).toMatchObject({ response_code, response_code_description: description });
    const with_empty_code = outcomeOf(answer('approved', { response_code: '' }), { now: 1_000, clock_offset_ms: 0 });
    expect(with_empty_code.details.transaction).toMatchObject({
      response_code: '00',
      response_code_description: 'Approved',
    });
  });

  test('rules 4.8: an approval with a code of its own is recorded as 00, with its text', () => {
    const said = answer('approved', { response_code: '85', response_code_description: 'No reason to decline' });
    const { details } = outcomeOf(said, { now: 1_000, clock_offset_ms: 0 });
    expect(details.transaction).toMatchObject({
      response_code: '00',
      response_code_description: 'No reason to decline',
    });
  });

  test("rules 23.4: the processor's instant is shifted like everything else", () => {
    const { details } = outcomeOf(answer('approved'), { now: 1_000, clock_offset_ms: 24 * 60 * 60_000 });
    expect(details.occurred).toBe('2030-01-16T11:59:59.000Z');
  });

  test('how 3-D Secure ended, and who bears a fraud then', () => {
    const three_ds = { result: 'authenticated', liability_shift: true };
    expect(
      outcomeOf(answer('approved', { three_ds }), { now: 1_000, clock_offset_ms: 0 }).details.transaction,
    ).toMatchObject({
      received_3ds_result: 'authenticated',
      liability_shift: true,
    });
  });

  test('rules 10.1: unknown is processing, by the service, and nothing is known of it', () => {
    expect(outcomeOf('unknown', { now: 1_000, clock_offset_ms: 0 })).toEqual({
      to: 'processing',
      details: { source: 'service', now: 1_000 },
    });
  });
});

/** The transaction expires at 800, its order at 1,000. */
const orderWith = (status: TransactionStatus, fields: Partial<OrderSnapshot> = {}) =>
  anOrderSnapshot([status], { status: status === 'new' ? 'new' : 'processing', ...fields });

/** A plan as `send`, `keep`, or the move: who moves what to which status. */
function inWords(order: OrderSnapshot, outcome: ChargeOutcome['outcome'], now: number, machine_now = now): string {
  const plan = planOutcome(order, { transaction_id: 't1', outcome, now, machine_now });
  if (plan.action !== 'move') return plan.action;
  const { change, details } = plan;
  const moved = change.transaction_id === undefined ? 'order' : change.to;
  return [`${details.source}:`, moved, ...(change.ended ? [change.ended] : [])].join(' ');
}

describe('what follows from an outcome of a charge', () => {
  test.each<[TransactionStatus, ChargeOutcome['outcome'] | ProcessorResult['result'], now: number, string]>([
    ['new', 'approved', 100, 'processor: accepted'],
    ['pending', 'approved', 100, 'processor: accepted'],
    // Rules 4.9: an approval counts after the order has expired too, and a decline expires it then.
    ['processing', 'approved', 2_000, 'processor: accepted'],
    ['processing', 'declined', 999, 'processor: error'],
    ['processing', 'declined', 1_000, 'processor: error expired'],
    ['new', 'error', 100, 'processor: error'],
    ['new', 'refused', 100, 'processor: error'],
    // Rules 10.11: a transaction that was cancelled or expired keeps its status.
    ['cancelled', 'approved', 100, 'keep'],
    ['expired', 'approved', 100, 'keep'],
    ['expired', 'declined', 100, 'keep'],
    // Given up as the processor did not know it; the stored watch gives a late approval back.
    ['error', 'approved', 900, 'keep'],
    ['error', 'declined', 900, 'keep'],
    // Rules 10.14: set by hand meanwhile.
    ['accepted', 'approved', 100, 'keep'],
    ['accepted', 'declined', 100, 'keep'],

    // Rules 10.1: unknown is no news of what is known better.
    ['new', 'unknown', 100, 'service: processing'],
    ['pending', 'unknown', 100, 'keep'],
    ['processing', 'unknown', 100, 'keep'],
    ['accepted', 'unknown', 100, 'keep'],
    ['error', 'unknown', 100, 'keep'],
    ['cancelled', 'unknown', 100, 'keep'],
    ['new', 'processing', 100, 'processor: processing'],
    ['pending', 'processing', 100, 'processor: processing'],
    ['accepted', 'processing', 100, 'keep'],
    ['error', 'processing', 100, 'keep'],

    ['new', 'challenge', 100, 'processor: pending'],
    ['processing', 'challenge', 799, 'processor: pending'],
    ['pending', 'challenge', 799, 'keep'],
    ['accepted', 'challenge', 100, 'keep'],
    ['error', 'challenge', 900, 'keep'],
    // Too late for a challenge: recorded, then expired by a second plan.
    ['processing', 'challenge', 800, 'processor: pending'],
    ['pending', 'challenge', 800, 'service: order expired'],

    // Rules 10.2: sent while there is time, afterwards failed.
    ['new', 'not_found', 799, 'send'],
    ['processing', 'not_found', 799, 'send'],
    ['processing', 'not_found', 800, 'service: error'],
    ['processing', 'not_found', 1_000, 'service: error expired'],
    ['accepted', 'not_found', 100, 'keep'],
    ['error', 'not_found', 900, 'keep'],
    ['cancelled', 'not_found', 900, 'keep'],
  ])('%s, the processor says %s at %i: %s', (status, outcome, now, expected) => {
    const said =
      outcome === 'unknown' || outcome === 'not_found' || typeof outcome === 'object' ? outcome : answer(outcome);
    expect(inWords(orderWith(status), said, now)).toBe(expected);
  });

  test('the task waited for a worker until the time was over: not sent', () => {
    expect(inWords(orderWith('processing'), 'not_found', 799, 800)).toBe('service: error');
  });

  test('a transaction of another order is our mistake', () => {
    expect(() => inWords(anOrderSnapshot(), answer('approved'), 100)).toThrow(ForbiddenMove);
  });
});

describe('rules 8.1: an approval', () => {
  const approvedAt = (order: OrderSnapshot) =>
    planOutcome(order, {
      transaction_id: 't1',
      outcome: answer('approved'),
      now: 100,
      machine_now: 100,
      paid_with: { payment_method: 'apple-pay' },
    });

  test('of a sale captures the amount', () => {
    expect(approvedAt(orderWith('new'))).toMatchObject({
      change: { transaction_id: 't1', to: 'accepted' },
      details: { transaction: { captured_amount: 500, payment_method: 'apple-pay', response_code: '00' } },
    });
  });

  test('of an authorization captures nothing and opens its capture window', () => {
    const capture = { capture_mode: 'manual', capture_period: 'PT1S', reserved: 0, unanswered: 0, freed: 0 } as const;
    const order = orderWith('new');
    const plan = approvedAt({ ...order, transactions: order.transactions.map((one) => ({ ...one, capture })) });
    expect(plan).toMatchObject({ change: { to: 'accepted', capture_ends_at: 1_100 } });
    expect(plan).not.toHaveProperty('details.transaction.captured_amount');
  });
});

describe('rules 10.14: an operator sets an outcome', () => {
  const setByHand = (order: OrderSnapshot, outcome: 'approved' | 'declined', now = 100) =>
    planManualOutcome(order, { transaction_id: 't1', outcome, reason: 'why' }, now);

  const IS_OVER: Partial<OrderSnapshot> = { expires_at: 100 };

  test.each<[TransactionStatus, Partial<OrderSnapshot>, boolean]>([
    ['processing', {}, true],
    ['new', { charged_by: 'token' }, true],
    ['new', {}, false],
    ['new', IS_OVER, false],
    // The customer may still pass 3-D Secure.
    ['pending', {}, false],
    ['pending', IS_OVER, true],
    ['accepted', {}, false],
    ['error', {}, false],
    ['expired', {}, false],
  ])('only while it is awaited: %s %j: %s', (status, fields, expected) => {
    expect(setByHand(orderWith(status, fields), 'approved') !== undefined).toBe(expected);
  });

  test('a charge before the last one is not set', () => {
    expect(setByHand(anOrderSnapshot(['processing', 'processing']), 'approved')).toBeUndefined();
  });

  test('approved captures a sale; declined when the time for paying is over expires the order', () => {
    expect(setByHand(orderWith('processing'), 'approved')).toEqual({
      change: { transaction_id: 't1', to: 'accepted' },
      details: {
        source: 'operator',
        result: 'approved',
        reason: 'why',
        now: 100,
        transaction: { captured_amount: 500, response_code: '00', response_code_description: 'Approved' },
      },
    });
    expect(setByHand(orderWith('processing'), 'declined', 1_000)?.change).toEqual({
      transaction_id: 't1',
      to: 'error',
      ended: 'expired',
    });
  });

  test.each<[TransactionStatus, ProcessorResult['result'], boolean]>([
    ['accepted', 'approved', false],
    ['accepted', 'declined', true],
    ['accepted', 'refused', true],
    ['accepted', 'error', true],
    // An authorization that was voided since.
    ['cancelled', 'declined', true],
    ['error', 'declined', false],
    ['error', 'refused', false],
    ['error', 'approved', true],
    ['error', 'challenge', false],
    ['accepted', 'processing', false],
  ])('set to %s, the processor says %s: a contradiction: %s', (status, result, expected) => {
    const order = anOrderSnapshot();
    const contradiction = (outcome: Parameters<typeof contradictionOf>[2]) =>
      contradictionOf(order, { status, outcome_set_by_hand: true }, outcome);
    expect(contradiction(answer(result)) !== undefined).toBe(expected);
    expect([contradiction('unknown'), contradiction('not_found')]).toEqual([undefined, undefined]);
  });

  test('rules 10.17, 10.18: it says what is recorded, and both amounts', () => {
    const order = anOrderSnapshot([], { amount: 10_000 });
    expect(contradictionOf(order, { status: 'error' }, answer('approved'))).toBe(
      'recorded as declined, but the processor says approved',
    );
    const mismatch = { result: 'mismatch', amount: 40, currency: 'USD' } as const;
    expect(contradictionOf(order, { status: 'accepted', outcome_set_by_hand: true }, mismatch)).toBe(
      'set by hand as approved, but the processor answers for 40 USD (minor units) instead of 10000 EUR (minor units)',
    );
  });
});

const MISMATCH = { result: 'mismatch', amount: 1, currency: 'EUR' } as const;
const HOURS = 3_600_000;

test.each<[Parameters<typeof isOutcomeMissing>[0] | ProcessorResult['result'], boolean]>([
  ['unknown', true],
  ['not_found', false],
  [MISMATCH, true],
  ['processing', true],
  ['challenge', true],
  ['approved', false],
  ['declined', false],
  ['refused', false],
  ['error', false],
])('after %j the outcome is still missing: %s', (said, expected) => {
  const outcome = typeof said === 'object' || said === 'unknown' || said === 'not_found' ? said : answer(said);
  expect(isOutcomeMissing(outcome)).toBe(expected);
  expect(isMismatch(outcome)).toBe(outcome === MISMATCH);
});

test('rules 10.9: what is not found is undecided for six hours, what has no outcome until it has one', () => {
  expect([0, 6 * HOURS - 1, 6 * HOURS].map((now) => isUndecided('not_found', 0, now))).toEqual([true, true, false]);
  expect(
    [answer('challenge'), 'unknown' as const, answer('declined')].map((said) => isUndecided(said, 0, 9e9)),
  ).toEqual([true, true, false]);
});

test('rules 10.17: an answer about another amount is processing, by the service', () => {
  expect(outcomeOf(MISMATCH, { now: 1_000, clock_offset_ms: 0 })).toEqual({
    to: 'processing',
    details: { source: 'service', now: 1_000 },
  });
});

test('rules 10.14: the move of an outcome that an operator sets, with the reason', () => {
  expect(moveForManualOutcome({ outcome: 'approved', reason: 'why' }, 7)).toEqual({
    to: 'accepted',
    details: {
      source: 'operator',
      now: 7,
      result: 'approved',
      reason: 'why',
      transaction: { response_code: '00', response_code_description: 'Approved' },
    },
  });
  expect(moveForManualOutcome({ outcome: 'declined', reason: 'why' }, 7)).toEqual({
    to: 'error',
    details: { source: 'operator', now: 7, result: 'declined', reason: 'why' },
  });
});

test('what follows is recorded with who said it, the instant, the result and the payment method', () => {
  const facts = { transaction_id: 't1', now: 2_000, machine_now: 2_000, paid_with: { payment_method: 'apple-pay' } };
  expect(planOutcome(orderWith('processing'), { ...facts, outcome: 'not_found' })).toEqual({
    action: 'move',
    change: { transaction_id: 't1', to: 'error', ended: 'expired' },
    details: { source: 'service', now: 2_000, result: 'failed' },
  });
  expect(planOutcome(orderWith('pending'), { ...facts, outcome: answer('challenge') })).toEqual({
    action: 'move',
    change: { ended: 'expired' },
    details: { source: 'service', now: 2_000 },
  });
  expect(
    planOutcome(orderWith('new'), { ...facts, outcome: answer('challenge', { challenge_url: 'u' }) }),
  ).toMatchObject({
    change: { transaction_id: 't1', to: 'pending' },
    details: { transaction: { payment_method: 'apple-pay', challenge_url: 'u' } },
  });
  expect(() => planOutcome(anOrderSnapshot(), { ...facts, outcome: 'unknown' })).toThrow(
    'transaction t1 is of another order',
  );
});

test.each([
  ['approved', answer('approved'), [true, false]],
  ['declined', answer('declined'), [false, true]],
  ['in progress', answer('processing'), [false, false]],
  ['at the issuer', answer('challenge'), [false, false]],
  ['about another amount', MISMATCH, [false, false]],
  ['unusable', 'unknown', [false, false]],
  ['that it is not known', 'not_found', [false, false]],
] as const)('whether an answer approves, and whether it declines: %s', (_title, outcome, expected) => {
  expect([isApproved(outcome), isDeclined(outcome)]).toEqual(expected);
});
