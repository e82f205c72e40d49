import { stepOf, type CustomerStep } from '../../../api/page/step';
import type { OrderView, TransactionView } from '../../../src/db/order-view';
import type { OrderStatus, TransactionStatus } from '../../../src/domain/transitions';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const END = '2026-03-01T12:30:00.000000+00:00';

function transaction(
  status: TransactionStatus,
  attempt: number,
  fields: Partial<TransactionView> = {},
): TransactionView {
  return { status, attempt, expires_at: END, response_code: null, events: [], ...fields } as unknown as TransactionView;
}

function anOrder(
  status: OrderStatus,
  transactions: TransactionView[] = [],
  fields: Partial<OrderView> = {},
): OrderView {
  return { status, transactions, attempts_max: 5, expires_at: END, ...fields } as unknown as OrderView;
}

const declined = (attempt: number) =>
  transaction('error', attempt, {
    response_code: '05',
    events: [{ event: 'error', result: 'declined' }] as unknown as TransactionView['events'],
  });

function inWords(step: CustomerStep): string {
  if (step.kind === 'pay') {
    return `pay ${step.attempt}, ${step.attempts_left} left${step.setback ? (step.setback.declined ? ', declined' : ', failed') : ''}`;
  }
  if (step.kind === 'wait') return `wait for ${step.for}${step.may_cancel ? ', may cancel' : ''}`;
  return step.as;
}

test.each<[string, OrderView, string]>([
  ['a new order is paid by its first attempt', anOrder('new'), 'pay 1, 5 left'],
  ['an announced transaction is the one to be paid', anOrder('new', [transaction('new', 1)]), 'pay 1, 5 left'],
  ['after a decline comes the next attempt', anOrder('processing', [declined(1)]), 'pay 2, 4 left, declined'],
  ['after four declines one is left', anOrder('processing', [1, 2, 3, 4].map(declined)), 'pay 5, 1 left, declined'],
  ['failed at the issuer is not declined', anOrder('processing', [transaction('error', 1)]), 'pay 2, 4 left, failed'],
  ['an open outcome is waited for', anOrder('processing', [transaction('processing', 1)]), 'wait for outcome'],
  [
    'an open outcome is waited for after the end too',
    anOrder('processing', [transaction('processing', 1)], { expires_at: '2026-03-01T11:00:00Z' }),
    'wait for outcome',
  ],
  ['an issuer asks', anOrder('processing', [transaction('pending', 1)]), 'wait for issuer, may cancel'],
  [
    'a charge by token is not the customer’s',
    anOrder('new', [transaction('new', 1)], { attempts_max: 1 }),
    'wait for outcome',
  ],
  [
    'the order’s time is over, its timer has not fired',
    anOrder('new', [], { expires_at: '2026-03-01T12:00:00Z' }),
    'expired',
  ],
  [
    'the transaction’s time is over before the order’s',
    anOrder('new', [transaction('new', 1, { expires_at: '2026-03-01T11:59:59Z' })]),
    'expired',
  ],
  [
    'a declined transaction’s time does not count',
    anOrder('processing', [{ ...declined(1), expires_at: '2026-03-01T11:00:00Z' }]),
    'pay 2, 4 left, declined',
  ],
  ['completed', anOrder('completed', [transaction('accepted', 1)]), 'completed'],
  ['cancelled', anOrder('cancelled'), 'cancelled'],
  ['expired', anOrder('expired'), 'expired'],
  ['error', anOrder('error', [1, 2, 3, 4, 5].map(declined)), 'error'],
])('%s', (_title, order, expected) => {
  expect(inWords(stepOf(order, NOW))).toBe(expected);
});

test('a second before the end it can be paid, at the end not', () => {
  const end = Date.parse(END);
  expect(stepOf(anOrder('new'), end - 1_000).kind).toBe('pay');
  expect(stepOf(anOrder('new'), end).kind).toBe('ended');
});
