import { rowOf, type ReportRow } from '../../../../src/domain/query/report';

const place = { order_id: '0190c000-0000-7000-8000-000000000001', order_sequence: 1, attempt: 1 };

it('is compared without case, in milliseconds, and with what is absent left out', () => {
  const row: ReportRow = {
    ...place,
    merchant_order_id: 'Ä-1',
    created: '2026-01-15 12:00:00.123987+00',
    completed: null,
    amount: 1_250,
    flags: 'is-test has-refunds',
    words: 'Two BOOKS, two',
  };
  expect(rowOf(row)).toEqual({
    merchant_order_id: 'ä-1',
    created: Date.UTC(2026, 0, 15, 12, 0, 0, 123),
    amount: 1_250,
    flags: ['is-test', 'has-refunds'],
    words: ['two', 'books'],
  });
});

test.each([
  ['EUR', 12.5],
  ['JPY', 1_250],
  ['KWD', 1.25],
])('an amount in %s has the decimals of its currency', (currency, amount) => {
  const row = rowOf({ ...place, currency, 'transaction.amount_with_decimals': 1_250 });
  expect(row['transaction.amount_with_decimals']).toBe(amount);
});

it('rules 20.4: a decline is an error too', () => {
  expect(rowOf({ ...place, 'transaction.status': 'declined' })['transaction.status']).toEqual(['error', 'declined']);
});

it('rules 20.6: knows the first 40 words', () => {
  const words = Array.from({ length: 41 }, (_, n) => `w${n}`);
  expect(rowOf({ ...place, words: words.join(' ') }).words).toEqual(words.slice(0, 40));
});
