import { z } from 'zod';
import { reference } from './scalars';

/**
 * The customer, in requests and answers alike. Which of these account funding needs is
 * decided in the domain.
 */
export const customerSchema = z.object({
  merchant_customer_id: reference().optional().describe("Merchant's own customer reference."),
  email_address: reference().optional(),
  first_name: reference().optional(),
  last_name: reference().optional(),
  address_type: reference().optional().describe('`billing` for account funding.'),
  address: reference().optional().describe('Street and house number.'),
  postal_code: reference().optional(),
  city: reference().optional(),
  state: reference().optional().describe('Two-letter state, province or territory code; for country US or CA.'),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/, 'Expected two capital letters of ISO 3166-1, for example NL.')
    .optional()
    .describe('ISO 3166-1 alpha-2.'),
  locale: reference().optional().describe('Language the customer reads, for example `nl_NL`.'),
  phone_numbers: z.array(reference()).max(20).optional(),
  ip_address: reference().optional(),
});
