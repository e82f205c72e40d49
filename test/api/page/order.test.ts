import { returnAddress, toOrderPayable, transactionToAskAbout } from '../../../api/page/order';
import type { PaymentState } from '../../../api/page/payable';
import type { StoredOrder, StoredTransaction } from '../../../src/db/orders/stored-order';
import type { OrderStatus, TransactionStatus } from '../../../src/domain/transitions';
import { reversalOrderId } from '../../../src/ids';
import { NOBODY } from '../../support/shapes';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const END = '2026-03-01T12:30:00.000000+00:00';
const MINUTE = 60_000;

function transaction(
  status: TransactionStatus,
  attempt: number,
  fields: Partial<StoredTransaction> = {},
): StoredTransaction {
  const base = { status, attempt, expires_at: END, challenge_url: null, response_code: null, events: [] };
  return { id: NOBODY, ...base, ...fields } as unknown as StoredTransaction;
}

function aPageOrder(
  status: OrderStatus,
  transactions: StoredTransaction[] = [],
  fields: Partial<StoredOrder> = {},
): StoredOrder {
  return {
    id: 'o-1',
    project_id: 'p-1',
    status,
    transactions,
    follow_ups: [],
    attempts_max: 5,
    charged_by: 'customer',
    expires_at: END,
    payment_methods: null,
    project_payment_methods: ['credit-card', 'apple-pay', 'google-pay'],
    return_url: null,
    failure_url: null,
    related_payment_link_id: null,
    ...fields,
  } as unknown as StoredOrder;
}

const declined = (attempt: number) =>
  transaction('error', attempt, {
    response_code: '05',
    events: [{ event: 'error', source: 'processor', result: 'declined' }] as unknown as StoredTransaction['events'],
  });

/** What gives the money of this transaction back. */
const reversalOf = (transaction_id: string, status: 'completed' | 'error' = 'completed') => [
  { id: reversalOrderId(transaction_id), kind: 'reversal' as const, status },
];

/** An attempt that the service had given up. */
const LATE = '3f0c1e5a-7d2b-4a59-9c86-1b2e4d6f8a03';
const approved_late = transaction('error', 1, { id: LATE });

function inWords(state: PaymentState): string {
  if (state.kind === 'payable') {
    const { attempt, attempts_left, last_failure, late_approval } = state;
    const failures = [last_failure?.reason, late_approval].filter((one) => one !== undefined);
    return [`pay ${attempt}`, `${attempts_left} left`, ...failures].join(', ');
  }
  if (state.kind === 'waiting') return `wait for ${state.waiting_for}${state.cancellable ? ', may cancel' : ''}`;
  return [...new Set([state.outcome, state.late_approval ?? state.outcome])].join(', ');
}

test.each<[string, StoredOrder, string]>([
  ['a new order is paid by its first attempt', aPageOrder('new'), 'pay 1, 5 left'],
  ['an announced transaction is the one to be paid', aPageOrder('new', [transaction('new', 1)]), 'pay 1, 5 left'],
  ['after a decline comes the next attempt', aPageOrder('processing', [declined(1)]), 'pay 2, 4 left, declined'],
  ['after four declines one is left', aPageOrder('processing', [1, 2, 3, 4].map(declined)), 'pay 5, 1 left, declined'],
  ['refused without a decline', aPageOrder('processing', [transaction('error', 1)]), 'pay 2, 4 left, failed'],
  [
    'set to declined by an operator',
    aPageOrder('processing', [
      transaction('error', 1, {
        events: [{ event: 'error', source: 'operator', result: 'declined' }] as unknown as StoredTransaction['events'],
      }),
    ]),
    'pay 2, 4 left, failed',
  ],
  [
    'not passed at the issuer',
    aPageOrder('processing', [transaction('error', 1, { received_3ds_result: 'failed' })]),
    'pay 2, 4 left, not_confirmed',
  ],
  ['an open outcome is waited for', aPageOrder('processing', [transaction('processing', 1)]), 'wait for outcome'],
  [
    'an open outcome is waited for after the end too',
    aPageOrder('processing', [transaction('processing', 1)], { expires_at: '2026-03-01T11:00:00Z' }),
    'wait for outcome',
  ],
  ['an issuer asks', aPageOrder('processing', [transaction('pending', 1)]), 'wait for issuer, may cancel'],
  [
    'a charge by token is not the customer’s',
    aPageOrder('new', [transaction('new', 1)], { attempts_max: 1, charged_by: 'token' }),
    'wait for outcome',
  ],
  [
    'the order’s time is over, its timer has not fired',
    aPageOrder('new', [], { expires_at: '2026-03-01T12:00:00Z' }),
    'expired',
  ],
  [
    'the transaction’s time is over before the order’s',
    aPageOrder('new', [transaction('new', 1, { expires_at: '2026-03-01T11:59:59Z' })]),
    'expired',
  ],
  [
    'a declined transaction’s time does not count',
    aPageOrder('processing', [{ ...declined(1), expires_at: '2026-03-01T11:00:00Z' }]),
    'pay 2, 4 left, declined',
  ],
  [
    'rules 21.10: a suspended project takes no payment',
    aPageOrder('new', [], { project_status: 'suspended' }),
    'suspended',
  ],
  [
    'what is under way in a suspended project goes on',
    aPageOrder('processing', [transaction('pending', 1)], { project_status: 'suspended' }),
    'wait for issuer, may cancel',
  ],
  ['completed', aPageOrder('completed', [transaction('accepted', 1)]), 'completed'],
  ['cancelled', aPageOrder('cancelled'), 'cancelled'],
  ['expired', aPageOrder('expired'), 'expired'],
  [
    'rules 12.12: approved by the issuer after its end',
    aPageOrder('expired', [transaction('expired', 1)], { follow_ups: reversalOf(NOBODY) }),
    'given_back',
  ],
  [
    'rules 12.12: approved by the issuer after its end, and its reversal was refused',
    aPageOrder('expired', [transaction('expired', 1)], { follow_ups: reversalOf(NOBODY, 'error') }),
    'not_given_back',
  ],
  [
    'rules 12.12: approved after its end, then declined',
    aPageOrder('processing', [approved_late, declined(2)], { follow_ups: reversalOf(LATE) }),
    'pay 3, 3 left, declined, given_back',
  ],
  [
    'rules 12.12: approved after its end, and all others declined',
    aPageOrder('error', [approved_late, ...[2, 3, 4, 5].map(declined)], { follow_ups: reversalOf(LATE, 'error') }),
    'not_given_back',
  ],
  [
    'rules 12.12: approved after its end, and another one paid',
    aPageOrder('completed', [approved_late, transaction('accepted', 2)], { follow_ups: reversalOf(LATE, 'error') }),
    'completed, not_given_back',
  ],
  [
    'rules 12.12: approved after its end, and the order’s time is over, its timer has not fired',
    aPageOrder('processing', [approved_late], {
      expires_at: '2026-03-01T12:00:00Z',
      follow_ups: reversalOf(LATE, 'error'),
    }),
    'not_given_back',
  ],
  [
    'rules 12.12: approved after its end, and the project was suspended',
    aPageOrder('processing', [approved_late], { project_status: 'suspended', follow_ups: reversalOf(LATE) }),
    'suspended, given_back',
  ],
  ['error', aPageOrder('error', [1, 2, 3, 4, 5].map(declined)), 'error'],
])('%s', (_title, order, expected) => {
  expect(inWords(toOrderPayable(order, NOW).state)).toBe(expected);
});

test.each<[string, StoredOrder]>([
  ['a customer who has been at the issuer', aPageOrder('processing', [transaction('pending', 1)])],
  ['a charge that has begun', aPageOrder('new', [transaction('new', 1, { charge_began: true })])],
  ['a charge by card token', aPageOrder('new', [transaction('new', 1)], { charged_by: 'token' })],
])('rules 10.10: at the end, the outcome of %s is waited for', (_title, order) => {
  expect(inWords(toOrderPayable(order, Date.parse(END)).state)).toBe('wait for outcome');
});

test('rules 21.10: a charge that has begun before its project was suspended is waited for', () => {
  const begun = transaction('new', 1, { charge_began: true });
  const order = aPageOrder('new', [begun], { project_status: 'suspended' });
  expect(inWords(toOrderPayable(order, NOW).state)).toBe('wait for outcome');
});

test('a second before the end it can be paid, at the end not', () => {
  const end = Date.parse(END);
  expect(toOrderPayable(aPageOrder('new'), end - 1_000).state.kind).toBe('payable');
  expect(toOrderPayable(aPageOrder('new'), end).state.kind).toBe('ended');
});

describe('rules 5.10: the methods', () => {
  /** An order whose first transaction was made by that side. */
  const first = (method_chosen_by: 'merchant' | 'customer', payment_method: string) => ({
    transactions: [transaction('error', 1, { payment_method, method_chosen_by })],
  });

  test.each<[string, Partial<StoredOrder>, string[]]>([
    ['every active method, wallets first', {}, ['apple-pay', 'google-pay', 'credit-card']],
    [
      'the order names card and a wallet',
      { payment_methods: ['credit-card', 'apple-pay'] },
      ['apple-pay', 'credit-card'],
    ],
    ['the order names card only', { payment_methods: ['credit-card'] }, ['credit-card']],
    ['the order names wallets only', { payment_methods: ['google-pay', 'apple-pay'] }, ['apple-pay', 'google-pay']],
    ['the order names none in an empty list', { payment_methods: [] }, ['apple-pay', 'google-pay', 'credit-card']],
    ['the order names nothing that the page can take', { payment_methods: ['bank-transfer'] }, []],
    ['the merchant announced card', first('merchant', 'credit-card'), ['credit-card']],
    ['the merchant announced a wallet', first('merchant', 'apple-pay'), ['apple-pay']],
    [
      'the merchant announced one method and named others',
      { ...first('merchant', 'apple-pay'), payment_methods: ['credit-card'] },
      ['apple-pay'],
    ],
    ['the customer has tried card', first('customer', 'credit-card'), ['apple-pay', 'google-pay', 'credit-card']],
    [
      'the customer has tried card, of two the order names',
      { ...first('customer', 'credit-card'), payment_methods: ['credit-card', 'google-pay'] },
      ['google-pay', 'credit-card'],
    ],
    ['card is not active any more', { project_payment_methods: ['apple-pay'] }, ['apple-pay']],
    [
      'the announced method is not active any more',
      { ...first('merchant', 'credit-card'), project_payment_methods: ['apple-pay'] },
      [],
    ],
    ['the project has card only', { project_payment_methods: ['credit-card'] }, ['credit-card']],
  ])('%s: %p → %p', (_title, fields, expected) => {
    expect(toOrderPayable(aPageOrder('new', [], fields), NOW).methods).toEqual(expected);
  });
});

test.each<[string | null, unknown, string[]]>([
  ['fr-FR', 'de_DE', ['fr-FR', 'de_DE']],
  [null, 'de_DE', ['de_DE']],
  ['fr-FR', 7, ['fr-FR']],
])('locale %p on the order and %p on its customer: %j', (locale, of_customer, expected) => {
  expect(toOrderPayable(aPageOrder('new', [], { locale, customer: { locale: of_customer } }), NOW).locales).toEqual(
    expected,
  );
});

describe('an order of a payment link', () => {
  const ofLink = { charged_by: 'token', related_payment_link_id: 'l-1', return_url: 'https://shop.example/' } as const;

  test.each(['error', 'cancelled', 'expired'] as const)(
    'rules 19.14: %s: leads back to the page of the link',
    (status) => {
      expect(toOrderPayable(aPageOrder(status, [], ofLink), NOW).state).toMatchObject({
        outcome: 'attempt_failed',
        return_address: undefined,
        payment_page: '/paymentlinks/l-1/',
      });
    },
  );

  test('rules 19.8: completed: leads to the return address, which learns of the link', () => {
    expect(toOrderPayable(aPageOrder('completed', [], ofLink), NOW).state).toMatchObject({
      outcome: 'completed',
      return_address: 'https://shop.example/?order_id=o-1&project_id=p-1&payment_link_id=l-1',
    });
  });
});

describe('the return address', () => {
  const order = { id: 'o-1', project_id: 'p-1', failure_url: null, related_payment_link_id: null };

  test.each([
    ['https://shop.example/done', 'https://shop.example/done?order_id=o-1&project_id=p-1'],
    ['https://shop.example', 'https://shop.example/?order_id=o-1&project_id=p-1'],
    ['https://shop.example/done?cart=7', 'https://shop.example/done?cart=7&order_id=o-1&project_id=p-1'],
    ['https://shop.example/done?', 'https://shop.example/done?order_id=o-1&project_id=p-1'],
    ['https://shop.example/done#thanks', 'https://shop.example/done?order_id=o-1&project_id=p-1#thanks'],
    [
      'https://shop.example/done?a=x%20y+z&a=%26#/app?tab=1',
      'https://shop.example/done?a=x%20y+z&a=%26&order_id=o-1&project_id=p-1#/app?tab=1',
    ],
  ])('rules 12.1: %s gets order_id and project_id, and keeps what is there', (return_url, expected) => {
    expect(returnAddress({ ...order, return_url }, 'completed')).toBe(expected);
  });

  test.each([
    ['completed', 'https://a.example/', 'https://b.example/', 'https://a.example/'],
    ['cancelled', 'https://a.example/', 'https://b.example/', 'https://b.example/'],
    ['expired', 'https://a.example/', 'https://b.example/', 'https://b.example/'],
    ['error', 'https://a.example/', 'https://b.example/', 'https://b.example/'],
    ['error', 'https://a.example/', null, 'https://a.example/'],
    ['completed', null, 'https://b.example/', undefined],
  ] as const)(
    'rules 12.11: %s with return_url %s and failure_url %s → %s',
    (outcome, return_url, failure_url, expected) => {
      expect(returnAddress({ ...order, return_url, failure_url }, outcome)?.split('?')[0]).toBe(expected);
    },
  );
});

describe('rules 12.12: the transaction to ask about when the customer returns from the issuer', () => {
  const challenged = (status: TransactionStatus, fields: Partial<StoredTransaction> = {}) =>
    transaction(status, 1, {
      challenge_url: 'https://issuer.example/',
      modified: END,
      may_be_approved: true,
      ...fields,
    });
  const later = (minutes: number) => Date.parse(END) + minutes * MINUTE;

  test.each<[string, StoredOrder, number, boolean]>([
    ['at the issuer', aPageOrder('processing', [challenged('pending')]), NOW, true],
    ['cancelled a moment ago', aPageOrder('cancelled', [challenged('cancelled')]), later(0), true],
    ['expired a moment ago', aPageOrder('expired', [challenged('expired')]), later(0), true],
    ['59 minutes after it expired', aPageOrder('expired', [challenged('expired')]), later(59), true],
    ['an hour after it expired', aPageOrder('expired', [challenged('expired')]), later(60), false],
    ['an hour after it was cancelled', aPageOrder('cancelled', [challenged('cancelled')]), later(60), false],
    ['an hour after the end it still waits for', aPageOrder('processing', [challenged('pending')]), later(60), false],
    ['without a challenge', aPageOrder('cancelled', [transaction('cancelled', 1)]), NOW, false],
    ['the issuer has answered', aPageOrder('processing', [challenged('error')]), NOW, false],
    ['the outcome is awaited', aPageOrder('processing', [challenged('processing')]), NOW, false],
    ['paid, and voided since', aPageOrder('completed', [challenged('cancelled')]), NOW, false],
    ['nothing was tried', aPageOrder('new'), NOW, false],
    [
      'its money is given back',
      aPageOrder('cancelled', [challenged('cancelled')], {
        follow_ups: reversalOf(NOBODY),
      }),
      later(0),
      false,
    ],
  ])('%s', (_title, order, now, asked) => {
    expect(transactionToAskAbout(order, now)).toBe(asked ? order.transactions[0] : undefined);
    const { may_be_approved, state } = toOrderPayable(order, now);
    expect(may_be_approved).toBe(asked && state.kind === 'ended');
  });

  test('once the processor has declined it, it cannot be approved any more', () => {
    const declined = aPageOrder('expired', [challenged('expired', { may_be_approved: false })]);
    expect(toOrderPayable(declined, later(0)).may_be_approved).toBe(false);
  });
});
