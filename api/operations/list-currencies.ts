import type { Operation } from '../context';

/** Which currencies the project takes, by payment method (rules 16.2). */
export const listCurrencies: Operation<'listCurrencies'> = ({ project }) =>
  Promise.resolve({
    payment_methods: Object.fromEntries(
      project.payment_methods.map((method) => [method, { currencies: project.currencies }]),
    ),
  });
