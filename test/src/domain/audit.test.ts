import { compareOrder, type Comparison, type RecordedTransaction, type ReportedMoney } from '../../../src/domain/audit';
import { MINUTE, NO_AMOUNTS, NOW, PROJECT } from '../../support/domain';

const HOUR = 60 * MINUTE;
const AT: Comparison = { until: NOW, approved_before: NOW - HOUR, fetched_up_to: 100, waits_since: NOW - 24 * HOUR };
const [ORDER, PAYMENT, REFUND, REVERSAL] = ['order', 'payment', 'refund', 'reversal'];

/** A sale of 500 that was approved, as the record has it. */
const recorded = (over: Partial<RecordedTransaction> = {}): RecordedTransaction => {
  const { won_back_amount, refunded_amount, charged_back_amount } = NO_AMOUNTS as Record<string, number>;
  return {
    transaction_id: PAYMENT,
    kind: 'payment',
    original_transaction_id: null,
    amount: 500,
    currency: 'EUR',
    status: 'accepted',
    is_approved: true,
    is_set_by_hand: false,
    capture_mode: null,
    captured_amount: 500,
    voided_amount: 0,
    refunded_amount: refunded_amount ?? 0,
    charged_back_amount: charged_back_amount ?? 0,
    won_back_amount: won_back_amount ?? 0,
    pending_amount: 0,
    settlement_currency: null,
    settlement_amount: null,
    fee_amount: null,
    settlement_waits_since: null,
    ...over,
  };
};
const declined = { status: 'error', is_approved: false, captured_amount: 0 } as const;
const follow = (kind: 'refund' | 'reversal', over: Partial<RecordedTransaction> = {}) =>
  recorded({
    kind,
    transaction_id: kind === 'refund' ? REFUND : REVERSAL,
    original_transaction_id: PAYMENT,
    captured_amount: 0,
    ...over,
  });

/** The sale as the processor reports it. */
const reported = (over: Partial<ReportedMoney> = {}): ReportedMoney => ({
  operation: 'sale',
  order_id: ORDER,
  project_id: PROJECT.id,
  transaction_id: PAYMENT,
  recorded_in: PAYMENT,
  amount: 500,
  currency: 'EUR',
  is_approved: true,
  occurred: NOW - 2 * HOUR,
  ...over,
});
const refunded = (amount: number, over: Partial<ReportedMoney> = {}) =>
  reported({ operation: 'refund', recorded_in: REFUND, amount, ...over });
const settled = (settlement_amount: number, over: Partial<ReportedMoney> = {}) =>
  reported({ settlement: { number: 7, settlement_currency: 'EUR', settlement_amount, fee_amount: 27 }, ...over });
const payout = { settlement_amount: 473, settlement_currency: 'EUR', fee_amount: 27 };

interface Row {
  transactions?: RecordedTransaction[];
  operations?: ReportedMoney[];
  modified?: number;
  is_being_polled?: boolean;
}

/** The differences as `kind record processor`, or `in flight`. */
function differencesOf({ transactions, operations = [reported()], ...of }: Row): string[] {
  const order = transactions && {
    order_id: ORDER,
    project_id: PROJECT.id,
    modified: NOW - HOUR,
    is_being_polled: false,
    transactions,
    ...of,
  };
  const { is_in_flight, differences } = compareOrder(ORDER, order, operations, AT);
  const found = differences.map(
    ({ kind, record_amount, processor_amount }) => `${kind} ${record_amount} ${processor_amount}`,
  );
  return is_in_flight ? ['in flight', ...found] : found;
}

test.each<[string, Row, string[]]>([
  ['the same', { transactions: [recorded()] }, []],
  [
    'declined on both sides',
    { transactions: [recorded(declined)], operations: [reported({ is_approved: false })] },
    [],
  ],
  [
    'a refund of a part',
    {
      transactions: [recorded({ refunded_amount: 200 }), follow('refund', { amount: 200 })],
      operations: [reported(), refunded(200)],
    },
    [],
  ],
  ['settled', { transactions: [recorded(payout)], operations: [settled(473)] }, []],
  [
    'an approval that an operator set, which the processor does not know',
    { transactions: [recorded({ is_set_by_hand: true })], operations: [] },
    [],
  ],
  [
    'approved after its end, and given back',
    {
      transactions: [recorded({ ...declined, status: 'expired' }), follow('reversal')],
      operations: [reported(), reported({ operation: 'reversal', recorded_in: REVERSAL })],
    },
    [],
  ],
  ['no order in the record', {}, ['missing_in_record 0 500']],
  ['no order in the record, declined', { operations: [reported({ is_approved: false })] }, []],
  [
    'no refund in the record',
    { transactions: [recorded()], operations: [reported(), refunded(200)] },
    ['missing_in_record 0 200'],
  ],
  ['an approval that the processor does not know', { transactions: [recorded()], operations: [] }, ['status 500 0']],
  [
    'an approval that the processor declined',
    { transactions: [recorded()], operations: [reported({ is_approved: false })] },
    ['status 500 0'],
  ],
  ['a decline that the processor approved', { transactions: [recorded(declined)] }, ['status 0 500']],
  [
    'an outcome that is unknown for more than an hour',
    { transactions: [recorded({ ...declined, status: 'processing' })] },
    ['status 0 500'],
  ],
  ['another amount', { transactions: [recorded({ amount: 507 })] }, ['amount 507 500']],
  ['another currency', { transactions: [recorded({ currency: 'USD' })] }, ['amount 500 500']],
  ['another captured amount', { transactions: [recorded({ captured_amount: 400 })] }, ['amount 400 500']],
  [
    'another refunded amount',
    {
      transactions: [recorded({ refunded_amount: 100 }), follow('refund', { amount: 200 })],
      operations: [reported(), refunded(200)],
    },
    ['amount 100 200'],
  ],
  ['charged twice', { transactions: [recorded()], operations: [reported(), reported()] }, ['double_charge 500 1000']],
  [
    'more refunded than charged',
    { transactions: [recorded()], operations: [reported(), refunded(501)] },
    ['refund_too_large 0 501'],
  ],
  [
    'a settlement that the record has lost',
    { transactions: [recorded()], operations: [settled(473)] },
    ['settlement 0 473'],
  ],
  [
    'a settlement that waits for more than a day',
    { transactions: [recorded({ settlement_waits_since: NOW - 25 * HOUR })], operations: [settled(473)] },
    ['settlement 0 473'],
  ],
  [
    'a settlement of another amount',
    { transactions: [recorded(payout)], operations: [settled(470)] },
    ['settlement 473 470'],
  ],
  ['a settlement that the processor does not report', { transactions: [recorded(payout)] }, ['settlement 473 0']],
])('rules 26.3 and 26.5: %s', (_title, row, differences) => {
  expect(differencesOf(row)).toEqual(differences);
});

test.each<[string, Row]>([
  ['an operation at the margin', { transactions: [], operations: [reported({ occurred: NOW })] }],
  ['a change of the record at the margin', { transactions: [recorded()], operations: [], modified: NOW }],
  ['a late approval that is being polled', { transactions: [recorded(declined)], is_being_polled: true }],
  [
    'a reversal without an outcome',
    {
      transactions: [
        recorded({ ...declined, status: 'expired' }),
        follow('reversal', { ...declined, status: 'processing' }),
      ],
    },
  ],
  [
    'an outcome that is unknown for less than an hour',
    {
      transactions: [recorded({ ...declined, status: 'processing' })],
      operations: [reported({ occurred: NOW - HOUR + 1 })],
    },
  ],
  ['a refund without an outcome', { transactions: [recorded({ pending_amount: 100 })] }],
  [
    'a settlement that is not fetched yet',
    { transactions: [recorded()], operations: [settled(473, { settlement: { number: 101, ...payout } })] },
  ],
  [
    'a settlement that waits for its transaction',
    { transactions: [recorded({ settlement_waits_since: NOW - HOUR })], operations: [settled(473)] },
  ],
])('rules 26.1: in flight, no difference: %s', (_title, row) => {
  expect(differencesOf(row)).toEqual(['in flight']);
});
