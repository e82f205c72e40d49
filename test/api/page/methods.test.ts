import { methodsOf } from '../../../api/page/methods';
import type { OrderView } from '../../../src/db/order-view';

type Facts = Parameters<typeof methodsOf>[0];

/** An order whose first transaction was made by that side. */
const first = (source: 'merchant' | 'customer', payment_method: string) => ({
  transactions: [{ payment_method, events: [{ source }] }] as unknown as OrderView['transactions'],
});

test.each<[string, Partial<Facts>, string[]]>([
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
])('%s: %p → %p', (_title, facts, expected) => {
  expect(
    methodsOf({
      payment_methods: null,
      project_payment_methods: ['credit-card', 'apple-pay', 'google-pay'],
      transactions: [],
      ...facts,
    }),
  ).toEqual(expected);
});
