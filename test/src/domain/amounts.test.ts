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
import { anAuthorization, aSale, moneyIn, rowsOf, WINDOW_END } from '../../support/domain';

const NOW = WINDOW_END - 1;
const left = (money: TransactionMoney) => [
  reservedAmount(money),
  capturableAmount(money, NOW),
  voidableAmount(money, NOW),
  refundableAmount(money),
];

describe('what is left at 9999: held, capturable, voidable, refundable', () => {
  const decided = (_title: string, money: string, expected: string) =>
    expect(left(moneyIn(money))).toEqual(expected.split(' ').map(Number));

  test.each(
    rowsOf(`
      a sale holds nothing; what it captured is refundable | sale                              | 0 0 0 100
      a sale that waits for its outcome has nothing        | sale status=processing captured=0 | 0 0 0 0
      of 0, a card check                                   | manual amount=0                   | 0 0 0 0
    `),
  )('rules 8.1: %s: %s → %s', decided);

  test.each(
    rowsOf(`
      manual: the amount stays reserved until captured or voided    | manual                                    | 100 100 100 0
      delayed cannot be captured through the API, but can be voided | delayed                                   | 100 0 100 0
      voided in part: the rest stays capturable                     | manual voided=30                          | 70 70 70 0
      captured and voided: nothing is left                          | manual captured=60 voided=40              | 0 0 0 60
      of the largest amount                                         | manual amount=9007199254740991 captured=1 | 9007199254740990 9007199254740990 9007199254740990 1
    `),
  )('rules 8.2: %s: %s → %s', decided);

  test.each(
    rowsOf(`
      captured in part: the rest is capturable and voidable, the captured part only refundable | manual captured=30 | 70 70 70 30
    `),
  )('rules 8.4: %s: %s → %s', decided);

  test.each(
    rowsOf(`
      an amount of a request without an answer cannot be requested again | manual capture_pending=30 void_pending=20                       | 50 50 50 0
      all four ways at once                                              | manual captured=40 voided=30 capture_pending=20 void_pending=10 | 0 0 0 40
    `),
  )('rules 9.6: %s: %s → %s', decided);

  test.each(
    rowsOf(`
      a millisecond before its end the window is open                 | manual capture_ends_at=10000            | 100 100 100 0
      exactly at its end the window is over, and the money still held | manual capture_ends_at=9999             | 100 0 0 0
      refunds stay possible after the window                          | manual captured=30 capture_ends_at=9999 | 70 0 0 30
    `),
  )('rules 7.1: %s: %s → %s', decided);

  test.each(
    rowsOf(`
      refunded in part                                                            | sale refunded=30                             | 0 0 0 70
      a refund that is not answered counts                                        | sale refunded=30 refund_pending=70           | 0 0 0 0
      a chargeback takes from what is refundable                                  | sale charged_back=60                         | 0 0 0 40
      one that was won brings it back                                             | sale charged_back=60 won_back=60             | 0 0 0 100
      won back in part                                                            | sale charged_back=60 won_back=20             | 0 0 0 60
      won back, after refunds                                                     | sale refunded=30 charged_back=60 won_back=60 | 0 0 0 70
      charged back after a full refund: never below 0                             | sale refunded=100 charged_back=100           | 0 0 0 0
      news of a win before those of its chargeback: never above what was captured | sale won_back=60                             | 0 0 0 100
    `),
  )('rules 9.7: %s: %s → %s', decided);

  test('an authorization without its window is none yet', () => {
    expect(left(anAuthorization({ capture_ends_at: null }))).toEqual([100, 0, 0, 0]);
  });

  test.each(
    TRANSACTION_STATUSES.filter((status) => status !== 'accepted').flatMap((status) =>
      CAPTURE_MODES.map((capture_mode) => [capture_mode, status] as const),
    ),
  )('an authorization (%s) that is %s holds nothing', (capture_mode, status) => {
    expect(left(anAuthorization({ capture_mode, status }))).toEqual([0, 0, 0, 0]);
  });
});

describe('rules 9.10: a sum over what was captured is seen', () => {
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

describe('rules 5.4: amount_details: sums over the payment transactions of an order', () => {
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
      WINDOW_END,
    ],
    [
      'what was released counts as voided',
      [anAuthorization({ status: 'expired', voided_amount: 100 })],
      { ...NOTHING, voided: 100 },
      WINDOW_END,
    ],
  ])('%s', (_title, transactions, expected, now = NOW) => {
    expect(amountDetails(transactions, now)).toEqual(expected);
  });
});
