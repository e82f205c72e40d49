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
  isProcessorInitiated,
  movesReservedMoney,
  paymentMethodOf,
  type FollowUpKind,
  type RequestedBy,
} from '../../../src/domain/follow-up';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../../../src/domain/transitions';
import { ServiceError } from '../../../src/errors';
import { anAuthorization, aSale, moneyIn, rowsOf } from '../../support/domain';

describe('one table of kinds', () => {
  test.each(Object.entries(FOLLOW_UPS))('rules 4.14 and 9.5: %s: fields and flags are named after it', (kind, row) => {
    // Captures and voids appear in related_orders only (rules 9.5).
    const array = kind === 'capture' || kind === 'void' ? null : `${kind}_orders`;
    expect([row.flag, row.original_flag, row.of, row.orders]).toEqual([
      `is-${kind}`,
      `has-${kind}s`,
      `${kind}_of_order_id`,
      array,
    ]);
  });

  test('rules 9.1: a refund, capture, void, chargeback or reversal is itself an order linked to the original', () => {
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

/** The amount, or the refusal as `type: text`, with the field that a ValidationError names. */
function asked(money: TransactionMoney, request: Parameters<typeof amountToMove>[1]): string {
  try {
    return String(amountToMove(money, request));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const [field] = error.fields;
    return field ? `${error.error} on ${field.path}: ${field.text}` : `${error.error}: ${error.value}`;
  }
}

/**
 * Every refusal of a capture, void or refund, with its words. A request is `capture`, of all that is left, or `capture
 * 30 by service at 10000`; by the merchant and at 9999, a millisecond before the window ends, unless it says otherwise.
 */
const decided = (money: string, request: string, expected: string) => {
  const [, kind, amount, by = 'merchant', at = '9999'] = /^(\w+)(?: (\d+))?(?: by (\w+))?(?: at (\d+))?$/.exec(
    request,
  )!;
  const wanted = { kind: kind as FollowUpKind, requested_by: by as RequestedBy, now: Number(at) };
  expect(asked(moneyIn(money), { ...wanted, ...(amount && { amount: Number(amount) }) })).toBe(expected);
};

test.each(
  rowsOf(`
    manual                             | capture         | 100
    manual captured=30 void_pending=20 | capture         | 50
    manual captured=30                 | capture 70      | 70
    manual                             | capture at 9999 | 100
    manual captured=30                 | void            | 70
    manual captured=30                 | void 70         | 70
    delayed                            | void 30         | 30
    delayed                            | void at 9999    | 100
    manual captured=30                 | refund 30       | 30
  `),
)('rules 8.3, 8.4, 8.2 and 7.1: allowed: %s: %s → %s', decided);

test.each(
  rowsOf(`
    sale                               | capture          | Conflict: A sale is captured with its payment.
    delayed                            | capture          | Conflict: A delayed transaction is captured by the service at the end of its expiration_period.
    manual captured=100                | capture          | Conflict: Nothing is left to be captured.
    manual captured=100                | capture 101      | Conflict: Nothing is left to be captured.
    manual captured=60 void_pending=40 | capture 1        | Conflict: Nothing is left to be captured.
    manual amount=0                    | capture          | Conflict: Nothing is left to be captured.
    manual status=pending              | capture          | Conflict: The transaction is pending.
    manual status=cancelled voided=100 | capture          | Conflict: The transaction is cancelled.
    manual                             | capture at 10000 | Conflict: The capture window has ended.
  `),
)('rules 8.5: a capture refused: %s: %s → %s', decided);

test.each(
  rowsOf(`
    sale                               | void          | CanNotCancelTransaction: A sale cannot be voided: refund it.
    manual captured=100                | void          | CanNotCancelTransaction: Nothing is left to be voided: what was captured is refunded.
    manual capture_pending=100         | void 101      | CanNotCancelTransaction: Nothing is left to be voided: what was captured is refunded.
    manual status=cancelled voided=100 | void          | CanNotCancelTransaction: The transaction is cancelled.
    manual status=error                | void          | CanNotCancelTransaction: The transaction is error.
    manual                             | void at 10000 | CanNotCancelTransaction: The capture window has ended.
    delayed                            | void at 10000 | CanNotCancelTransaction: The capture window has ended.
  `),
)('rules 8.6: a void refused: %s: %s → %s', decided);

test.each(
  rowsOf(`
    manual captured=30        | capture 71 | ValidationError on amount: More than is left: 70.
    manual capture_pending=30 | capture 71 | ValidationError on amount: More than is left: 70.
    manual captured=30        | void 71    | ValidationError on amount: More than is left: 70.
    delayed void_pending=30   | void 71    | ValidationError on amount: More than is left: 70.
  `),
)('rules 8.7: more than is left: %s: %s → %s', decided);

test.each(
  rowsOf(`
    sale                | refund           | 100
    sale refunded=60    | refund 40        | 40
    manual captured=100 | refund at 100000 | 100
  `),
)('rules 9.7: what can be refunded: %s: %s → %s', decided);

test.each(
  rowsOf(`
    sale refund_pending=60             | refund 41 | RefundError: The refund exceeds what is left: 40.
    sale refunded=60                   | refund 41 | RefundError: The refund exceeds what is left: 40.
    sale charged_back=60               | refund 41 | RefundError: The refund exceeds what is left: 40.
    manual captured=30                 | refund 31 | RefundError: The refund exceeds what is left: 30.
    sale                               | refund 0  | RefundError: A refund of 0 gives nothing back.
    sale refunded=100                  | refund    | RefundError: Nothing is left to be refunded.
    sale refunded=100                  | refund 1  | RefundError: Nothing is left to be refunded.
    manual                             | refund 1  | RefundError: Nothing has been captured yet: void the transaction instead.
    sale status=error captured=0       | refund 1  | RefundError: Nothing was paid: the transaction is error.
    manual status=cancelled voided=100 | refund 1  | RefundError: Nothing was paid: the transaction is cancelled.
    sale amount=0 captured=0           | refund 0  | RefundError: Nothing was paid: an order of 0 checks the card.
  `),
)('rules 9.8: a refund refused: %s: %s → %s', decided);

test.each(
  rowsOf(`
    delayed voided=30                                     | capture by service at 10000 | 70
    manual captured=30 capture_pending=20 void_pending=10 | void by service at 10000    | 40
    sale refunded=100                                     | chargeback 100 by processor | 100
    sale                                                  | chargeback 250 by processor | 250
    sale charged_back=100                                 | reversal 100 by processor   | 100
    sale status=expired captured=0                        | reversal by service         | 100
  `),
)('rules 8.8, 9.10 and 10.11: never refused, by the service or the processor: %s: %s → %s', decided);

describe('rules 9.6: what an outcome changes', () => {
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

describe('rules 8.10, 9.10 and 9.11: what gives the operator Attention', () => {
  const OVER = aSale({ refunded_amount: 100, charged_back_amount: 1 });
  const CAPTURING = anAuthorization({ capture_pending_amount: 100, charged_back_amount: 100 });
  const BEYOND = 'refunded and charged back beyond what was captured';
  const held = (kind: string) => `the processor refused the ${kind}: the customer's money is still held`;
  test.each<[FollowUpKind, RequestedBy, TransactionStatus, TransactionMoney, attention: string | undefined]>([
    ['chargeback', 'processor', 'accepted', OVER, BEYOND],
    ['refund', 'merchant', 'accepted', OVER, BEYOND],
    ['refund', 'merchant', 'error', OVER, undefined],
    ['refund', 'merchant', 'processing', OVER, undefined],
    ['reversal', 'service', 'accepted', OVER, undefined],
    ['capture', 'merchant', 'accepted', OVER, undefined],
    ['chargeback', 'processor', 'accepted', CAPTURING, undefined],
    ['capture', 'merchant', 'error', { ...CAPTURING, capture_pending_amount: 0 }, BEYOND],
    // It was beyond before, and an operator has seen it.
    ['capture', 'merchant', 'error', anAuthorization({ charged_back_amount: 300 }), undefined],
    ['chargeback', 'processor', 'accepted', aSale({ charged_back_amount: 100 }), undefined],
    ['reversal', 'service', 'error', aSale(), held('reversal')],
    ['void', 'service', 'error', anAuthorization(), held('void')],
    ['void', 'merchant', 'error', anAuthorization(), undefined],
    ['capture', 'service', 'error', anAuthorization(), undefined],
  ])('%s by the %s → %s', (kind, requested_by, to, money, expected) => {
    expect(followUpAttention({ kind, requested_by, amount: 100 }, to, money)).toBe(expected);
  });
});

test.each(
  rowsOf(`
    voided in full                                 | manual voided=100                   | ends
    delayed, voided in full                        | delayed voided=100                  | ends
    one was captured                               | manual captured=1 voided=99         | goes on
    captured in full                               | manual captured=100                 | goes on
    one is still held                              | manual voided=99                    | goes on
    a capture is not answered                      | manual voided=60 capture_pending=40 | goes on
    a void is not answered                         | manual voided=60 void_pending=40    | goes on
    untouched                                      | manual                              | goes on
    a card check of 0 holds nothing that could end | manual amount=0                     | goes on
    a sale                                         | sale                                | goes on
    it has ended already                           | manual status=cancelled voided=100  | goes on
  `),
)('rules 8.11: %s (%s): the authorization %s', (_title: string, money: string, expected: string) => {
  expect(isFullyReleased(moneyIn(money)) ? 'ends' : 'goes on').toBe(expected);
});

test('rules 8.11: on request it is cancelled; released at the end of its window it has expired', () => {
  expect([statusAfterRelease(false), statusAfterRelease(true)]).toEqual(['cancelled', 'expired']);
});

test('captures and voids move reserved money; chargebacks and won ones are the processor’s', () => {
  expect(FOLLOW_UP_KINDS.filter(movesReservedMoney)).toEqual(['capture', 'void']);
  const operations = ['sale', 'refund', 'chargeback', 'chargeback_reversal', 'toString'];
  expect(operations.filter(isProcessorInitiated)).toEqual(['chargeback', 'chargeback_reversal']);
});

test.each<[Parameters<typeof amountToMove>[1]['kind'], RequestedBy, string, number]>([
  ['chargeback', 'processor', 'sale', 100],
  ['reversal', 'service', 'sale status=expired captured=0', 100],
  ['void', 'service', 'manual captured=30', 70],
  ['capture', 'service', 'delayed voided=40', 60],
])('without an amount a %s by the %s is of all: %s', (kind, requested_by, money, amount) => {
  expect(amountToMove(moneyIn(money), { kind, requested_by, now: 20_000 })).toBe(amount);
});
