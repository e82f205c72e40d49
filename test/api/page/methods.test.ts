import { paysByCard } from '../../../api/page/methods';
import type { OrderView } from '../../../src/db/order-view';

type Facts = Parameters<typeof paysByCard>[0];

const chose = (payment_method: string) => [{ payment_method }] as unknown as OrderView['transactions'];

test.each<[string, Partial<Facts>, boolean]>([
  ['every active method', {}, true],
  ['the order names card', { payment_methods: ['credit-card', 'apple-pay'] }, true],
  ['the order names another method only', { payment_methods: ['apple-pay'] }, false],
  ['the merchant chose card', { transactions: chose('credit-card') }, true],
  ['the merchant chose another method', { transactions: chose('apple-pay') }, false],
  ['card is not active any more', { project_payment_methods: ['apple-pay'] }, false],
])('%s: %p', (_title, facts, expected) => {
  expect(paysByCard({ payment_methods: null, project_payment_methods: ['credit-card', 'apple-pay'], transactions: [], ...facts })).toBe(expected);
});
