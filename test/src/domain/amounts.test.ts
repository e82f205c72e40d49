import {
  CAPTURE_MODES,
  amountDetails,
  capturableAmount,
  reservedAmount,
  isOverdrawn,
  refundableAmount,
  voidableAmount,
  type TransactionMoney,
} from '../../../src/domain/amounts';
import { TRANSACTION_STATUSES } from '../../../src/domain/transitions';
import { CAPTURE_END, aSale, anAuthorization } from '../../support/money';

const NOW = CAPTURE_END - 1;
const left = (money: TransactionMoney, now = NOW) => [
  reservedAmount(money),
  capturableAmount(money, now),
  voidableAmount(money, now),
  refundableAmount(money),
];

describe('what is left: held, capturable, voidable, refundable', () => {
  test.each<[rule: string, money: TransactionMoney, left: number[], now?: number]>([
    ['rules 8.1: a sale holds nothing; what it captured is refundable', aSale(), [0, 0, 0, 100]],
    [
      'a sale that waits for its outcome has nothing',
      aSale({ status: 'processing', captured_amount: 0 }),
      [0, 0, 0, 0],
    ],
    [
      'rules 8.2: with manual, the amount stays reserved until captured or voided',
      anAuthorization(),
      [100, 100, 100, 0],
    ],
    [
      'rules 8.2: delayed cannot be captured through the API, but can be voided',
      anAuthorization({ capture_mode: 'delayed' }),
      [100, 0, 100, 0],
    ],
    [
      'rules 8.4: captured in part: the rest is capturable and voidable, the captured part only refundable',
      anAuthorization({ captured_amount: 30 }),
      [70, 70, 70, 30],
    ],
    ['voided in part: the rest stays capturable', anAuthorization({ voided_amount: 30 }), [70, 70, 70, 0]],
    [
      'captured and voided: nothing is left',
      anAuthorization({ captured_amount: 60, voided_amount: 40 }),
      [0, 0, 0, 60],
    ],
    [
      'an amount of a request without an answer cannot be requested again',
      anAuthorization({ capture_pending_amount: 30, void_pending_amount: 20 }),
      [50, 50, 50, 0],
    ],
    [
      'all four ways at once',
      anAuthorization({ captured_amount: 40, voided_amount: 30, capture_pending_amount: 20, void_pending_amount: 10 }),
      [0, 0, 0, 40],
    ],
    ['a millisecond before its end the window is open', anAuthorization(), [100, 100, 100, 0], CAPTURE_END - 1],
    [
      'rules 7.1: exactly at its end the window is over, and the money still held',
      anAuthorization(),
      [100, 0, 0, 0],
      CAPTURE_END,
    ],
    ['an authorization without its window is none yet', anAuthorization({ capture_ends_at: null }), [100, 0, 0, 0]],
    ['of 0, a card check', anAuthorization({ amount: 0 }), [0, 0, 0, 0]],
    [
      'of the largest amount',
      anAuthorization({ amount: Number.MAX_SAFE_INTEGER, captured_amount: 1 }),
      [Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER - 1, 1],
    ],
    ['refunded in part', aSale({ refunded_amount: 30 }), [0, 0, 0, 70]],
    ['a refund that is not answered counts', aSale({ refunded_amount: 30, refund_pending_amount: 70 }), [0, 0, 0, 0]],
    ['refunds stay possible after the window', anAuthorization({ captured_amount: 30 }), [70, 0, 0, 30], CAPTURE_END],
    ['a chargeback takes from what is refundable', aSale({ charged_back_amount: 60 }), [0, 0, 0, 40]],
    ['one that was won brings it back', aSale({ charged_back_amount: 60, won_back_amount: 60 }), [0, 0, 0, 100]],
    ['won back in part', aSale({ charged_back_amount: 60, won_back_amount: 20 }), [0, 0, 0, 60]],
    [
      'rules 9.7: won back, after refunds',
      aSale({ refunded_amount: 30, charged_back_amount: 60, won_back_amount: 60 }),
      [0, 0, 0, 70],
    ],
    [
      'rules 9.7: charged back after a full refund: never below 0',
      aSale({ refunded_amount: 100, charged_back_amount: 100 }),
      [0, 0, 0, 0],
    ],
    [
      'news of a win before those of its chargeback: never above what was captured',
      aSale({ won_back_amount: 60 }),
      [0, 0, 0, 100],
    ],
  ])('%s', (_rule, money, expected, now = NOW) => {
    expect(left(money, now)).toEqual(expected);
  });

  test.each(
    TRANSACTION_STATUSES.filter((status) => status !== 'accepted').flatMap((status) =>
      CAPTURE_MODES.map((capture_mode) => [capture_mode, status] as const),
    ),
  )('an authorization (%s) that is %s holds nothing', (capture_mode, status) => {
    expect(left(anAuthorization({ capture_mode, status }))).toEqual([0, 0, 0, 0]);
  });
});

describe('a sum over what was captured is seen', () => {
  test.each<[string, Partial<TransactionMoney>, boolean]>([
    ['nothing given back', {}, false],
    ['refunded in full', { refunded_amount: 100 }, false],
    ['charged back in full', { charged_back_amount: 100 }, false],
    ['refunded and charged back, exactly all', { refunded_amount: 40, charged_back_amount: 60 }, false],
    ['one more than all', { refunded_amount: 41, charged_back_amount: 60 }, true],
    ['charged back twice', { charged_back_amount: 200 }, true],
    ['of which one was won', { charged_back_amount: 200, won_back_amount: 100 }, false],
    [
      'a refund that is not answered has given nothing back yet',
      { refund_pending_amount: 100, charged_back_amount: 100 },
      false,
    ],
  ])('%s: %s %j', (_title, over, expected) => {
    expect(isOverdrawn(aSale(over))).toBe(expected);
  });

  test('a chargeback of what was only reserved', () => {
    expect(isOverdrawn(anAuthorization({ charged_back_amount: 1 }))).toBe(true);
  });
});

describe('amount_details: sums over the payment transactions of an order', () => {
  const NOTHING = { capturable: 0, captured: 0, refundable: 0, refunded: 0, voidable: 0, voided: 0 };
  const DECLINED = aSale({ status: 'error', captured_amount: 0 });
  test.each<[string, TransactionMoney[], typeof NOTHING, now?: number]>([
    ['no transaction', [], NOTHING],
    ['a sale that was declined', [DECLINED], NOTHING],
    ['a sale', [aSale()], { ...NOTHING, captured: 100, refundable: 100 }],
    [
      'a decline, then a sale of the largest amount',
      [DECLINED, aSale({ amount: Number.MAX_SAFE_INTEGER, captured_amount: Number.MAX_SAFE_INTEGER })],
      { ...NOTHING, captured: Number.MAX_SAFE_INTEGER, refundable: Number.MAX_SAFE_INTEGER },
    ],
    ['an authorization', [anAuthorization()], { ...NOTHING, capturable: 100, voidable: 100 }],
    [
      'a decline, then an authorization of which everything has happened',
      [
        DECLINED,
        anAuthorization({
          captured_amount: 50,
          voided_amount: 20,
          refunded_amount: 5,
          refund_pending_amount: 6,
          capture_pending_amount: 1,
        }),
      ],
      { capturable: 29, captured: 50, refundable: 39, refunded: 5, voidable: 29, voided: 20 },
    ],
    [
      'the same when its window is over',
      [anAuthorization({ captured_amount: 50, voided_amount: 20 })],
      { ...NOTHING, captured: 50, refundable: 50, voided: 20 },
      CAPTURE_END,
    ],
    [
      'what was released counts as voided',
      [anAuthorization({ status: 'expired', voided_amount: 100 })],
      { ...NOTHING, voided: 100 },
      CAPTURE_END,
    ],
  ])('%s', (_title, transactions, expected, now = NOW) => {
    expect(amountDetails(transactions, now)).toEqual(expected);
  });
});
