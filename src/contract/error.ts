import { z } from 'zod';

/** Body of every error: the only answer with a top-level `error` (rules 3.1). */
export const errorSchema = z.strictObject({
  error: z.strictObject({
    status: z.int().describe('HTTP status code.'),
    type: z.string().describe('Error type, see Errors.'),
    value: z.string().describe('Short explanation.'),
    property_path: z.string().optional().describe('The first bad field, for example `transactions.0.payment_method`.'),
    property_description: z.string().optional().describe('What is wrong with it.'),
  }),
});
export type ErrorAnswer = z.infer<typeof errorSchema>;
