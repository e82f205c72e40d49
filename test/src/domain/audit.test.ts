import { compareOrder, type Comparison, type RecordedTransaction, type ReportedMoney } from '../../../src/domain/audit';
import type { OrderKind } from '../../../src/domain/follow-up';
import { MINUTE, NO_AMOUNTS, NOW, PROJECT } from '../../support/domain';

const HOUR = 60 * MINUTE;
const AT: Comparison = { until: NOW, approved_before: NOW - HOUR, fetched_up_to: 100, waits_since: NOW - 24 * HOUR };
const [ORDER, PAYMENT, OTHER] = ['order', 'payment', 'another attempt'];

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
    fee_currency: null,
    settlement_waits_since: null,
    ...over,
  };
};
const declined = { status: 'error', is_approved: false, captured_amount: 0 } as const;
const follow = (kind: OrderKind, over: Partial<RecordedTransaction> = {}) =>
  recorded({ kind, transaction_id: kind, original_transaction_id: PAYMENT, captured_amount: 0, ...over });

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
const followed = (operation: string, amount = 500, over: Partial<ReportedMoney> = {}) =>
  reported({ operation, recorded_in: operation, amount, ...over });
const refunded = (amount: number) => followed('refund', amount);
const settled = (settlement_amount: number, over: Partial<ReportedMoney> = {}) =>
  reported({ settlement: { number: 7, ...payout, settlement_amount }, ...over });
const payout = { settlement_amount: 473, settlement_currency: 'EUR', fee_amount: 27, fee_currency: 'EUR' };

interface Row {
  transactions?: RecordedTransaction[];
  operations?: ReportedMoney[];
  modified?: number;
  is_being_polled?: boolean;
}

function compared({ transactions, operations = [reported()], ...of }: Row) {
  const order = transactions && {
    order_id: ORDER,
    project_id: PROJECT.id,
    modified: NOW - HOUR,
    is_being_polled: false,
    transactions,
    ...of,
  };
  return compareOrder(ORDER, order, operations, AT);
}

/** The differences as `kind record processor`, or `in flight`. */
function differencesOf(row: Row): string[] {
  const { is_in_flight, differences } = compared(row);
  const found = differences.map(
    ({ kind, record_amount, processor_amount }) => `${kind} ${record_amount} ${processor_amount}`,
  );
  return is_in_flight ? ['in flight', ...found] : found;
}

/** Operations that follow an authorization, the kinds of orders that record them, and their amounts. */
const FOLLOWED = [
  ['capture', 'capture', 300],
  ['void', 'void', 200],
  ['refund', 'refund', 300],
  ['chargeback', 'chargeback', 100],
  ['chargeback_reversal', 'reversal', 50],
] as const;

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
      operations: [reported(), followed('reversal')],
    },
    [],
  ],
  [
    'captured in part, the rest voided, the captured part refunded, charged back and won back',
    {
      transactions: [
        recorded({
          ...{ capture_mode: 'manual', captured_amount: 300, voided_amount: 200 },
          ...{ refunded_amount: 300, charged_back_amount: 100, won_back_amount: 50 },
        }),
        ...FOLLOWED.map(([, kind, amount]) => follow(kind, { amount })),
      ],
      operations: [
        reported({ operation: 'authorize' }),
        ...FOLLOWED.map(([operation, kind, amount]) => followed(operation, amount, { recorded_in: kind })),
      ],
    },
    [],
  ],
  ['an approval of nothing', { transactions: [recorded({ amount: 0, captured_amount: 0 })], operations: [] }, []],
  [
    'nothing was approved, which the record does not have',
    { transactions: [recorded({ ...declined, amount: 0 })], operations: [reported({ amount: 0 })] },
    [],
  ],
  ['nothing was approved, of an order that is not in the record', { operations: [reported({ amount: 0 })] }, []],
  [
    'a refund that an operator set, which the processor does not know',
    { transactions: [recorded({ refunded_amount: 200 }), follow('refund', { amount: 200, is_set_by_hand: true })] },
    [],
  ],
  [
    'another amount, and another attempt that an operator set',
    {
      transactions: [
        recorded({ captured_amount: 400 }),
        recorded({ ...declined, transaction_id: OTHER, is_set_by_hand: true }),
      ],
    },
    ['amount 400 500'],
  ],
  [
    'two attempts that differ, each in its own way',
    {
      transactions: [recorded({ captured_amount: 400 }), recorded({ transaction_id: OTHER, amount: 507 })],
      operations: [reported(), reported({ transaction_id: OTHER, recorded_in: OTHER })],
    },
    ['amount 507 500', 'amount 400 500'],
  ],
  ['no order in the record', {}, ['missing_in_record 0 500']],
  ['no order in the record, charged twice', { operations: [reported(), reported()] }, ['double_charge 0 1000']],
  [
    'no order in the record, more refunded than charged',
    { operations: [reported(), refunded(501)] },
    ['refund_too_large 0 501', 'missing_in_record 0 500'],
  ],
  [
    'a decline that was charged twice',
    { transactions: [recorded(declined)], operations: [reported(), reported()] },
    ['double_charge 0 1000'],
  ],
  [
    'more refunded than charged, and a chargeback that the record does not have',
    {
      transactions: [recorded({ refunded_amount: 501 }), follow('refund', { amount: 501 })],
      operations: [reported(), refunded(501), followed('chargeback', 100)],
    },
    ['refund_too_large 501 501', 'missing_in_record 0 100'],
  ],
  [
    'approved after its end; a reversal that the processor does not know',
    { transactions: [recorded({ ...declined, status: 'expired' }), follow('reversal')] },
    ['status 0 500', 'status 500 0'],
  ],
  [
    'approved after its end; a reversal that the record has as declined',
    {
      transactions: [recorded({ ...declined, status: 'expired' }), follow('reversal', declined)],
      operations: [reported(), followed('reversal')],
    },
    ['status 0 500', 'status 0 500'],
  ],
  [
    'one attempt was given back, of another the reversal is not in the record',
    {
      transactions: [
        recorded({ ...declined, status: 'expired' }),
        follow('reversal'),
        recorded({ ...declined, transaction_id: OTHER }),
      ],
      operations: [
        reported(),
        followed('reversal'),
        reported({ transaction_id: OTHER, recorded_in: OTHER }),
        followed('reversal', 500, { transaction_id: OTHER, recorded_in: 'none' }),
      ],
    },
    ['status 0 500', 'missing_in_record 0 500'],
  ],
  [
    'a decline that the processor approved, while another attempt is being given back, and this one refunded',
    {
      transactions: [
        recorded(declined),
        follow('refund', { ...declined, status: 'processing' }),
        recorded({ ...declined, transaction_id: OTHER, status: 'expired' }),
        follow('reversal', { ...declined, status: 'processing', original_transaction_id: OTHER }),
      ],
    },
    ['status 0 500'],
  ],
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
    'a settlement that has waited for exactly a day',
    { transactions: [recorded({ settlement_waits_since: AT.waits_since })], operations: [settled(473)] },
    ['settlement 0 473'],
  ],
  [
    'a settlement of the last number that was fetched',
    {
      transactions: [recorded()],
      operations: [settled(473, { settlement: { number: AT.fetched_up_to, ...payout } })],
    },
    ['settlement 0 473'],
  ],
  [
    'a settlement of another currency',
    { transactions: [recorded({ ...payout, settlement_currency: 'USD' })], operations: [settled(473)] },
    ['settlement 473 473'],
  ],
  [
    'a settlement with another fee',
    { transactions: [recorded({ ...payout, fee_amount: 28 })], operations: [settled(473)] },
    ['settlement 473 473'],
  ],
  [
    'a settlement whose fee has another currency',
    { transactions: [recorded({ ...payout, fee_currency: 'USD' })], operations: [settled(473)] },
    ['settlement 473 473'],
  ],
  [
    'a settlement without a fee',
    {
      transactions: [recorded({ ...payout, fee_amount: null, fee_currency: null })],
      operations: [settled(473, { settlement: { number: 7, ...payout, fee_amount: 0, fee_currency: undefined } })],
    },
    [],
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

const AMOUNTS = [
  ['captured_amount', 'captured'],
  ['voided_amount', 'voided'],
  ['refunded_amount', 'refunded'],
  ['charged_back_amount', 'charged back'],
  ['won_back_amount', 'won back'],
] as const;

test.each<[Row, string]>([
  [
    { transactions: [recorded()], operations: [reported(), reported()] },
    'The processor charged the transaction 2 times.',
  ],
  [
    { transactions: [recorded()], operations: [reported(), refunded(501)] },
    'The processor refunded more than the 500 that it had taken.',
  ],
  [
    { transactions: [recorded()], operations: [] },
    'The record has the transaction as accepted; the processor has not approved it.',
  ],
  [{ transactions: [recorded(declined)] }, 'The processor approved the sale; the record has it as error.'],
  [{ transactions: [recorded({ amount: 507 })] }, 'The record has 507 EUR, the processor 500 EUR.'],
  [{}, 'The processor approved a sale of 500; the record has no such transaction.'],
  ...AMOUNTS.map(([column, what]): [Row, string] => [
    { transactions: [recorded({ [column]: 7 })] },
    `The record has 7 as ${what}, the processor ${what === 'captured' ? 500 : 0}.`,
  ]),
  [{ transactions: [recorded(payout)] }, 'The record has a settlement that the processor does not report.'],
  [
    { transactions: [recorded()], operations: [settled(473)] },
    'The processor settled the transaction; the record has no settlement.',
  ],
  [
    { transactions: [recorded({ ...payout, fee_amount: null })], operations: [settled(470)] },
    'The record has 473 EUR, the processor settled 470 EUR, with fees of 0 and 27 EUR.',
  ],
])('rules 26.3: in words %#: %s', (row, description) => {
  const { differences } = compared(row);
  expect(differences[0]).toMatchObject({ description, order_id: ORDER, project_id: PROJECT.id, currency: 'EUR' });
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
      operations: [reported({ occurred: AT.approved_before })],
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
