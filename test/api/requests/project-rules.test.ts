import { requireProjectAccepts } from '../../../api/requests/project-rules';
import type { ServiceError } from '../../../src/errors';

const PROJECT = { currencies: ['EUR'], payment_methods: ['credit-card'], is_test: true };

test.each([
  ['live', 'allowed', 'http://10.0.0.5/hook', false],
  ['live', 'refused', 'http://localhost/', false],
  ['live', 'refused', 'https://shop.example/', true],
  ['test', 'refused', 'http://[::1]/', false],
  ['test', 'allowed', 'http://127.0.0.1:8080/', true],
  ['test', 'refused', undefined, true],
] as const)('rules 13.8: a %s project, private addresses %s, %s: passes %s', (kind, allowed, webhook_url, passes) => {
  const require = () =>
    requireProjectAccepts(
      { webhook_private_addresses: allowed === 'allowed' },
      { ...PROJECT, is_test: kind === 'test' },
      { webhook_url },
    );
  if (passes) expect(require).not.toThrow();
  else {
    expect(require).toThrow(
      expect.objectContaining({
        error: 'ValidationError',
        fields: [expect.objectContaining({ path: 'webhook_url' })],
      }) as Error,
    );
  }
});

test('rules 5.2: everything that the project does not accept is named', () => {
  const order = {
    currency: 'USD',
    payment_methods: ['credit-card', 'cash', 'barter'],
    transactions: [{ payment_method: 'apple-pay' }],
    webhook_url: 'http://10.0.0.5/',
  };
  let refused: unknown;
  try {
    requireProjectAccepts({ webhook_private_addresses: false }, PROJECT, order);
  } catch (error) {
    refused = error;
  }
  const { fields } = refused as ServiceError;
  expect(fields.map(({ path }) => path)).toEqual([
    'currency',
    'payment_methods.1',
    'payment_methods.2',
    'transactions.0.payment_method',
    'webhook_url',
  ]);
  expect(fields[1]?.text).toBe('Expected a payment method of the project: credit-card.');
});
