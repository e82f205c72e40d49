import { z } from 'zod';
import type { Route } from './routes';
import { amount, currency } from './scalars';

const DAY = 'Expected a day in UTC, for example 2026-11-23.';

const day = () =>
  z
    .string()
    .refine((text) => /^\d{4}-\d\d-\d\d$/.test(text) && z.iso.date().safeParse(text).success, DAY)
    .meta({ format: 'date', examples: ['2026-11-23'] });

/** The sums of one currency. */
const totalsSchema = z.strictObject({
  currency: currency(),
  orders: z.int().min(0).describe('Payment orders, paid or not.'),
  accepted_amount: amount().nullable().describe('Accepted transactions of payment orders.'),
  refunded_amount: amount().nullable().describe('Accepted refunds.'),
  charged_back_amount: amount().nullable().describe('Chargebacks; those that were won back are not taken off.'),
  settled_amount: z.int().nullable().describe('What the processor has paid out, less what it has taken back.'),
  fee_amount: amount().nullable().describe("The processor's fees."),
});

/** Control totals of a day (rules 26.9). */
export const dayTotalsSchema = z.strictObject({
  day: day(),
  totals: z.array(totalsSchema).describe('One entry for each currency, sorted.'),
});

export const REPORT_ROUTES = {
  getTotals: {
    method: 'get',
    path: '/v1/reports/totals/',
    summary: 'Get the control totals of a day',
    description:
      'Sums of the orders that were created on a day in UTC, by currency, in minor units: those of the transaction report, which has main units, for `created:` that day. Amounts of earlier days change when a later refund, chargeback or settlement changes their transactions. A sum above 9007199254740991, which JSON parsers may round, is null: add up the report.',
    query: z.strictObject({ day: day().optional().describe('A day in UTC; yesterday if it is absent.') }),
    output: dayTotalsSchema,
  },
} as const satisfies Record<string, Route>;
