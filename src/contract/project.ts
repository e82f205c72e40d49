import { z } from 'zod';
import { currency, durationText, uri, uuid } from './scalars';

/** The project of the API key (rules 16.1). */
export const projectSchema = z.strictObject({
  id: uuid(),
  merchant_id: uuid(),
  name: z.string(),
  status: z.enum(['active', 'active-testing']),
  is_test: z.boolean().describe('True: orders carry the flag is-test and no money moves.'),
  webhook_url: uri().optional(),
  payment_methods: z.array(z.string()),
  currencies: z.array(currency()),
  expiration_period: durationText().describe('Default of the order field of that name.'),
  transaction_expiration_period: durationText().describe(
    'Default for paying a transaction, and for `delayed` captures.',
  ),
  capture_expiration_period: durationText().describe('Default for capturing `manual` transactions.'),
  permissions: z.record(z.string(), z.record(z.string(), z.boolean())).describe('Path → method → allowed.'),
});

/** Currencies by payment method (rules 16.2). */
export const currenciesSchema = z.strictObject({
  payment_methods: z.record(z.string(), z.strictObject({ currencies: z.array(currency()) })),
});
