import type { MerchantOperation } from '../merchant';

/** Which currencies the project takes, by payment method (rules 16.2). */
export const listCurrencies: MerchantOperation<'listCurrencies'> = ({ caller: { project } }) =>
  Promise.resolve({
    payment_methods: Object.fromEntries(
      project.payment_methods.map((method) => [method, { currencies: project.currencies }]),
    ),
  });
