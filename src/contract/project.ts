import { z } from 'zod';
import type { Route } from './routes';
import { paymentMethod } from './transaction';
import { currency, durationOutput, uri, idOutput } from './scalars';

/** The project of the API key (rules 16.1). */
export const projectSchema = z.strictObject({
  id: idOutput(),
  merchant_id: idOutput(),
  name: z.string(),
  status: z
    .enum(['active', 'active-testing', 'suspended'])
    .describe('A suspended project takes no new orders, payment links or payments.'),
  is_test: z.boolean().describe('True: orders carry the flag is-test and no money moves.'),
  webhook_url: uri().optional(),
  payment_methods: z.array(paymentMethod()),
  currencies: z.array(currency()),
  expiration_period: durationOutput().describe('Default of the order field of that name.'),
  transaction_expiration_period: durationOutput().describe(
    'Default for paying a transaction, and for `delayed` captures.',
  ),
  capture_expiration_period: durationOutput().describe('Default for capturing `manual` transactions.'),
  permissions: z.record(z.string(), z.record(z.string(), z.boolean())).describe('Path → method → allowed.'),
});

/** Currencies by payment method (rules 16.2). */
export const currenciesSchema = z.strictObject({
  payment_methods: z.record(z.string(), z.strictObject({ currencies: z.array(currency()) })),
});

/** The project of the API key. */
export const PROJECT_ROUTES = {
  getProject: {
    method: 'get',
    path: '/v1/merchants/self/projects/self/',
    summary: 'Get the project',
    description: 'The project of the API key: 200 means that the key works, 401 that it is wrong.',
    output: projectSchema,
  },
  listCurrencies: {
    method: 'get',
    path: '/v1/merchants/self/projects/self/currencies/',
    summary: 'List the currencies',
    description: 'The currencies the project supports, by payment method.',
    output: currenciesSchema,
  },
} as const satisfies Record<string, Route>;
