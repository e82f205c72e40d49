import type { OrderRecord } from '../../src/domain/move';
import type { OrderStatus, TransactionStatus } from '../../src/domain/transitions';
import { describe as inDetail, inWords } from '../../workflows/order-details';

const anOrder = (status: OrderStatus, transactions: TransactionStatus[] = [], attempts_max = 5): OrderRecord => ({
  order_id: 'o',
  status,
  version: 0,
  moves: 0,
  amount: 1250,
  currency: 'EUR',
  attempts_max,
  order_end: Date.UTC(2026, 0, 15, 12, 30),
  transactions: transactions.map((one, i) => ({ transaction_id: `t${i}`, attempt: i + 1, status: one, end: Date.UTC(2026, 0, 15, 12, 10) })),
  deliveries: [],
});

test.each<[OrderRecord, string]>([
  [anOrder('new'), 'Waits for the customer to pay, until 2026-01-15T12:30:00.000Z.'],
  [anOrder('new', ['new']), 'Waits for the customer to pay, until 2026-01-15T12:10:00.000Z.'],
  [anOrder('processing', ['pending']), 'Waits for the customer to finish 3-D Secure, until 2026-01-15T12:10:00.000Z.'],
  [anOrder('processing', ['error']), 'Waits for the customer to try again, until 2026-01-15T12:30:00.000Z.'],
  [anOrder('processing', ['processing']), "Waits for the processor's outcome of attempt 1; it is asked again and again."],
  [anOrder('completed', ['accepted']), 'Nothing is awaited: completed is final.'],
])('an operator reads what an order waits for, and until when: %j', (order, words) => {
  expect(inWords(order)).toBe(words);
});

test('the details name status, amount and every attempt', () => {
  const text = inDetail(anOrder('see-transactions', ['error', 'pending']), 'payments');
  for (const part of ['**see-transactions**', '1250 EUR (minor units)', 'attempt 1 of 5: error', 'attempt 2 of 5: pending']) expect(text).toContain(part);
});
