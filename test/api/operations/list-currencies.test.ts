import { currenciesSchema } from '../../../src/contract/project';
import { createTestProject } from '../../support/operator';

test('rules 5.2 and 16.2: lists the currencies of the project by payment method; an order in one of them is taken, in another refused', async () => {
  const { merchant } = await createTestProject({ currencies: ['JPY', 'EUR'] });
  const { body } = await merchant.send('GET', '/v1/merchants/self/projects/self/currencies');
  expect(currenciesSchema.parse(body)).toEqual({ payment_methods: { 'credit-card': { currencies: ['JPY', 'EUR'] } } });
  expect((await merchant.createOrder({ currency: 'JPY' })).currency).toBe('JPY');
  expect((await merchant.send('POST', '/v1/orders/', { body: { currency: 'USD', amount: 1 } })).status).toBe(400);
});
