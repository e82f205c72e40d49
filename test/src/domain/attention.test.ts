import { attentionTo, indexAttention, settlementsAttention } from '../../../src/domain/attention';
import { withAnswered, type OrderSnapshot } from '../../../src/domain/order-snapshot';
import type { OrderStatus, TransactionStatus } from '../../../src/domain/transitions';
import { NOW, anOrderSnapshot } from '../../support/domain';

const anOrder = (status: OrderStatus, transactions: TransactionStatus[]) =>
  anOrderSnapshot(transactions, { status, amount: 1250, currency: 'EUR' });
const polled = (order: OrderSnapshot, polls: number): OrderSnapshot => ({
  ...order,
  transactions: order.transactions.map((one) => ({ ...one, polls })),
});
const pollsAfterEnd = (order: OrderSnapshot): OrderSnapshot => ({
  ...order,
  transactions: order.transactions.map((one) => ({ ...one, poll_at: one.expires_at })),
});
const mismatched = (order: OrderSnapshot) =>
  withAnswered(order, order.transactions[0]!.id, { amount: 40, currency: 'USD' });

test.each<[string, OrderSnapshot, string | undefined]>([
  ['nothing', polled(anOrder('processing', ['processing']), 169), undefined],
  [
    'an outcome that is missing for a day, however often the workflow was lost',
    polled(anOrder('processing', ['processing']), 170),
    'has given no outcome for about a day',
  ],
  ['rules 10.3: not while the customer is at the issuer', polled(anOrder('processing', ['pending']), 170), undefined],
  [
    'rules 10.3: but when the processor is silent after that time',
    pollsAfterEnd(polled(anOrder('processing', ['pending']), 170)),
    'has given no outcome for about a day',
  ],
  ['no longer, once it is known', polled(anOrder('completed', ['accepted']), 170), undefined],
  ['what is recorded', { ...anOrder('completed', ['accepted']), attention: 'look here' }, 'look here'],
  [
    'rules 10.17: another amount, at once',
    mismatched(anOrder('processing', ['processing'])),
    'answers for 40 USD (minor units) instead of 1250 EUR (minor units)',
  ],
  ['nor another amount, once the outcome is known', mismatched(anOrder('completed', ['accepted'])), undefined],
])('attention: %s', (_title, order, expected) => {
  const attention = attentionTo(order);
  if (expected === undefined) expect(attention).toBeUndefined();
  else expect(attention).toContain(expected);
});

test.each([
  ['none waits', undefined, undefined],
  ['one waits for a day', NOW - 24 * 3_600_000, undefined],
  ['one waits for longer', NOW - 24 * 3_600_000 - 1, 'a settlement has waited for its transaction for more than a day'],
])('attention to settlements: %s', (_title, waiting_since, expected) => {
  expect(settlementsAttention(waiting_since, NOW)).toBe(expected);
});

test('attention to the search index while it refuses orders', () => {
  expect([indexAttention(0), indexAttention(3)]).toEqual([undefined, 'the search index refuses 3 orders']);
});
