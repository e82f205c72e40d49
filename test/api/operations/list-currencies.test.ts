import { currenciesSchema } from '../../../src/contract/project';
import { aProject } from '../../support/projects';

test('lists the currencies of the project by payment method; an order in one of them is taken, in another refused', async () => {
  const { shop } = await aProject({ currencies: ['JPY', 'EUR'] });
  const { body } = await shop.send('GET', '/v1/merchants/self/projects/self/currencies');
  expect(currenciesSchema.parse(body)).toEqual({ payment_methods: { 'credit-card': { currencies: ['JPY', 'EUR'] } } });
  expect((await shop.createOrder({ currency: 'JPY' })).currency).toBe('JPY');
  expect((await shop.send('POST', '/v1/orders/', { body: { currency: 'USD', amount: 1 } })).status).toBe(400);
});
