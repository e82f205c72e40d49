import type { TransactionMoney } from '../../../src/domain/amounts';
import {
  FOLLOW_UPS,
  FOLLOW_UP_KINDS,
  amountChanges,
  amountToMove,
  followUpAttention,
  creditDebitOf,
  followUpIdempotencyKey,
  statusAfterRelease,
  isFullyReleased,
  paymentMethodOf,
  type FollowUpKind,
  type RequestedBy,
} from '../../../src/domain/follow-up';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../../../src/domain/transitions';
import { ServiceError } from '../../../src/errors';
import { CAPTURE_END, aSale, anAuthorization } from '../../support/money';

describe('one table of kinds', () => {
  test.each(Object.entries(FOLLOW_UPS))('rules 4.14: %s: fields and flags are named after it', (kind, row) => {
    // Captures and voids appear in related_orders only (rules 9.5).
    const array = kind === 'capture' || kind === 'void' ? null : `${kind}_orders`;
    expect([row.flag, row.original_flag, row.of, row.orders]).toEqual([
      `is-${kind}`,
      `has-${kind}s`,
      `${kind}_of_order_id`,
      array,
    ]);
  });

  test('a refund, capture, void, chargeback or reversal is itself an order linked to the original', () => {
    expect(FOLLOW_UP_KINDS.toSorted()).toEqual(['capture', 'chargeback', 'refund', 'reversal', 'void']);
  });

  test.each<[FollowUpKind, RequestedBy, 'credit' | 'debit']>([
    ['capture', 'merchant', 'credit'],
    ['capture', 'service', 'credit'],
    ['void', 'merchant', 'debit'],
    ['void', 'service', 'debit'],
    ['refund', 'merchant', 'debit'],
    ['chargeback', 'processor', 'debit'],
    // Of a late approval, and of a chargeback that was won.
    ['reversal', 'service', 'debit'],
    ['reversal', 'processor', 'credit'],
  ])('rules 9.4: %s, requested by the %s: %s', (kind, requested_by, expected) => {
    expect(creditDebitOf({ kind, requested_by })).toBe(expected);
  });

  test.each(FOLLOW_UP_KINDS)(
    'rules 9.4: the method of a %s is the payment’s; only a refund has one of its own',
    (kind) => {
      expect(paymentMethodOf(kind, 'apple-pay')).toBe(kind === 'refund' ? 'credit-card-refund' : 'apple-pay');
    },
  );

  test('every repeat of a follow-up has the same key; another order, kind or transaction has another', () => {
    const keys = ['t', 'u'].flatMap((transaction_id) =>
      FOLLOW_UP_KINDS.flatMap((kind) =>
        ['f', 'g'].map((order_id) => followUpIdempotencyKey(transaction_id, kind, order_id)),
      ),
    );
    expect(new Set(keys).size).toBe(keys.length);
    expect(followUpIdempotencyKey('t', 'refund', 'f')).toBe('t:refund:f');
  });
});

/** The amount, or the refusal as `type: text`, with the field a ValidationError names. */
function asked(
  money: TransactionMoney,
  request: { kind: FollowUpKind; requested_by?: RequestedBy; amount?: number; now?: number },
): number | string {
  try {
    return amountToMove(money, { requested_by: 'merchant', now: CAPTURE_END - 1, ...request });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return [error.error, error.fields[0]?.path].filter((part) => part !== undefined).join(' on ');
  }
}

describe('rules 8.5, 8.6, 8.7 and 9.8: refusals', () => {
  const CAPTURED = anAuthorization({ captured_amount: 100 });
  test.each<
    [
      rule: string,
      money: TransactionMoney,
      request: { kind: FollowUpKind; amount?: number; now?: number },
      expected: number | string,
    ]
  >([
    ['capture all', anAuthorization(), { kind: 'capture' }, 100],
    [
      'capture all that is left',
      anAuthorization({ captured_amount: 30, void_pending_amount: 20 }),
      { kind: 'capture' },
      50,
    ],
    ['capture a part', anAuthorization(), { kind: 'capture', amount: 30 }, 30],
    ['capture more than is left', anAuthorization(), { kind: 'capture', amount: 101 }, 'ValidationError on amount'],
    ['capture with nothing left', CAPTURED, { kind: 'capture' }, 'Conflict'],
    ['capture a sale', aSale(), { kind: 'capture' }, 'Conflict'],
    ['rules 8.2: capture delayed', anAuthorization({ capture_mode: 'delayed' }), { kind: 'capture' }, 'Conflict'],
    [
      'rules 7.1: capture at the end of the window',
      anAuthorization(),
      { kind: 'capture', now: CAPTURE_END },
      'Conflict',
    ],
    ['void what is left', anAuthorization({ captured_amount: 30 }), { kind: 'void' }, 70],
    ['void delayed', anAuthorization({ capture_mode: 'delayed' }), { kind: 'void', amount: 30 }, 30],
    ['void more than is left', anAuthorization(), { kind: 'void', amount: 101 }, 'ValidationError on amount'],
    ['void after a capture', CAPTURED, { kind: 'void' }, 'CanNotCancelTransaction'],
    ['void a sale', aSale(), { kind: 'void' }, 'CanNotCancelTransaction'],
    ['void at the end of the window', anAuthorization(), { kind: 'void', now: CAPTURE_END }, 'CanNotCancelTransaction'],
    ['refund all', aSale(), { kind: 'refund' }, 100],
    ['refund what is left', aSale({ refunded_amount: 60 }), { kind: 'refund', amount: 40 }, 40],
    ['refund more than is left', aSale({ refund_pending_amount: 60 }), { kind: 'refund', amount: 41 }, 'RefundError'],
    ['refund 0', aSale(), { kind: 'refund', amount: 0 }, 'RefundError'],
    ['refund what is only reserved', anAuthorization(), { kind: 'refund', amount: 1 }, 'RefundError'],
    ['refund what was captured, long after the window', CAPTURED, { kind: 'refund', now: CAPTURE_END * 10 }, 100],
  ])('%s', (_rule, money, request, expected) => {
    expect(asked(money, request)).toBe(expected);
  });

  test.each([
    ['capture of a sale', aSale(), 'capture', 'A sale is captured with its payment.'],
    ['capture before acceptance', anAuthorization({ status: 'pending' }), 'capture', 'The transaction is pending.'],
    [
      'capture of delayed',
      anAuthorization({ capture_mode: 'delayed' }),
      'capture',
      'A delayed transaction is captured by the service at the end of its expiration_period.',
    ],
    ['capture after the window', anAuthorization({ capture_ends_at: 0 }), 'capture', 'The capture window has ended.'],
    [
      'capture with nothing left',
      anAuthorization({ captured_amount: 100 }),
      'capture',
      'Nothing is left to be captured.',
    ],
    ['void of a sale', aSale(), 'void', 'A sale cannot be voided: refund it.'],
    ['void of one that was voided', anAuthorization({ status: 'cancelled' }), 'void', 'The transaction is cancelled.'],
    ['void after the window', anAuthorization({ capture_ends_at: 0 }), 'void', 'The capture window has ended.'],
    [
      'void with nothing left',
      anAuthorization({ captured_amount: 100 }),
      'void',
      'Nothing is left to be voided: what was captured is refunded.',
    ],
    [
      'refund of an authorization',
      anAuthorization(),
      'refund',
      'Nothing has been captured yet: void the transaction instead.',
    ],
    [
      'refund of a declined payment',
      aSale({ status: 'error', captured_amount: 0 }),
      'refund',
      'Nothing was paid: the transaction is error.',
    ],
    ['refund with nothing left', aSale({ refunded_amount: 100 }), 'refund', 'Nothing is left to be refunded.'],
    [
      'refund of a card check',
      aSale({ amount: 0, captured_amount: 0 }),
      'refund',
      'Nothing was paid: an order of 0 checks the card.',
    ],
  ] as const)('%s says why', (_title, money, kind, why) => {
    expect(() => amountToMove(money, { kind, requested_by: 'merchant', now: 1 })).toThrow(why);
  });
});

describe('what the service and the processor do is never refused', () => {
  test.each<[string, TransactionMoney, { kind: FollowUpKind; requested_by: RequestedBy; amount?: number }, number]>([
    [
      'the service captures all that is held, at the end of the window',
      anAuthorization({ capture_mode: 'delayed', voided_amount: 30 }),
      { kind: 'capture', requested_by: 'service' },
      70,
    ],
    [
      'the service releases what is left, less what is asked and not answered',
      anAuthorization({ captured_amount: 30, capture_pending_amount: 20, void_pending_amount: 10 }),
      { kind: 'void', requested_by: 'service' },
      40,
    ],
    [
      'a chargeback after a full refund',
      aSale({ refunded_amount: 100 }),
      { kind: 'chargeback', requested_by: 'processor', amount: 100 },
      100,
    ],
    [
      'a chargeback of more than was paid',
      aSale(),
      { kind: 'chargeback', requested_by: 'processor', amount: 250 },
      250,
    ],
    [
      'a chargeback that was won',
      aSale({ charged_back_amount: 100 }),
      { kind: 'reversal', requested_by: 'processor', amount: 100 },
      100,
    ],
    [
      'a late approval is given back whole',
      aSale({ status: 'expired', captured_amount: 0 }),
      { kind: 'reversal', requested_by: 'service' },
      100,
    ],
  ])('%s', (_title, money, request, expected) => {
    expect(asked(money, { ...request, now: CAPTURE_END })).toBe(expected);
  });
});

describe('what an outcome changes', () => {
  test.each<[FollowUpKind, 'credit' | 'debit', TransactionStatus, ReturnType<typeof amountChanges>]>([
    ['capture', 'credit', 'accepted', { capture_pending_amount: -40, captured_amount: 40 }],
    ['capture', 'credit', 'error', { capture_pending_amount: -40 }],
    ['void', 'debit', 'accepted', { void_pending_amount: -40, voided_amount: 40 }],
    ['void', 'debit', 'error', { void_pending_amount: -40 }],
    ['refund', 'debit', 'accepted', { refund_pending_amount: -40, refunded_amount: 40 }],
    ['refund', 'debit', 'error', { refund_pending_amount: -40 }],
    ['chargeback', 'debit', 'accepted', { charged_back_amount: 40 }],
    ['chargeback', 'debit', 'error', {}],
    ['reversal', 'credit', 'accepted', { won_back_amount: 40 }],
    ['reversal', 'credit', 'error', {}],
    ['reversal', 'debit', 'accepted', {}],
    ['reversal', 'debit', 'error', {}],
  ])('%s (%s) → %s: %j', (kind, credit_debit, to, expected) => {
    expect(amountChanges({ kind, credit_debit, amount: 40 }, to)).toEqual(expected);
  });

  test.each(TRANSACTION_STATUSES.filter((status) => status !== 'accepted' && status !== 'error'))(
    '%s is no outcome: nothing changes',
    (to) => {
      expect(FOLLOW_UP_KINDS.map((kind) => amountChanges({ kind, credit_debit: 'debit', amount: 40 }, to))).toEqual(
        FOLLOW_UP_KINDS.map(() => ({})),
      );
    },
  );
});

describe('rules 8.10, 9.10 and 9.11: what is flagged for the operator: a sum over captured, on the order that made it so, and what the service could not give back', () => {
  const OVER = aSale({ refunded_amount: 100, charged_back_amount: 1 });
  test.each<[FollowUpKind, RequestedBy, TransactionStatus, TransactionMoney, boolean]>([
    ['chargeback', 'processor', 'accepted', OVER, true],
    ['refund', 'merchant', 'accepted', OVER, true],
    ['refund', 'merchant', 'error', OVER, false],
    ['refund', 'merchant', 'processing', OVER, false],
    ['reversal', 'service', 'accepted', OVER, false],
    ['capture', 'merchant', 'accepted', OVER, false],
    ['chargeback', 'processor', 'accepted', aSale({ charged_back_amount: 100 }), false],
    ['reversal', 'service', 'error', aSale(), true],
    ['void', 'service', 'error', anAuthorization(), true],
    ['void', 'merchant', 'error', anAuthorization(), false],
    ['capture', 'service', 'error', anAuthorization(), false],
  ])('%s by the %s → %s', (kind, requested_by, to, money, expected) => {
    expect(followUpAttention({ kind, requested_by }, to, money) !== undefined).toBe(expected);
  });
});

describe('rules 8.11: an authorization of which nothing is left', () => {
  test.each<[rule: string, money: TransactionMoney, given_up: boolean]>([
    ['voided in full', anAuthorization({ voided_amount: 100 }), true],
    ['delayed, voided in full', anAuthorization({ capture_mode: 'delayed', voided_amount: 100 }), true],
    ['one was captured', anAuthorization({ captured_amount: 1, voided_amount: 99 }), false],
    ['captured in full', anAuthorization({ captured_amount: 100 }), false],
    ['one is still held', anAuthorization({ voided_amount: 99 }), false],
    ['a capture is not answered', anAuthorization({ voided_amount: 60, capture_pending_amount: 40 }), false],
    ['a void is not answered', anAuthorization({ voided_amount: 60, void_pending_amount: 40 }), false],
    ['untouched', anAuthorization(), false],
    ['a card check of 0 holds nothing that could end', anAuthorization({ amount: 0 }), false],
    ['a sale', aSale(), false],
    ['it has ended already', anAuthorization({ status: 'cancelled', voided_amount: 100 }), false],
  ])('%s', (_rule, money, given_up) => {
    expect(isFullyReleased(money)).toBe(given_up);
  });

  test('on request it is cancelled; released at the end of its window it has expired', () => {
    expect([statusAfterRelease(false), statusAfterRelease(true)]).toEqual(['cancelled', 'expired']);
  });
});
