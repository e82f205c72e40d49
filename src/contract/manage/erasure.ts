import { z } from 'zod';
import { ERASURE_FIELDS } from '../../domain/retention';
import type { Route } from '../routes';
import { idInput, reference, timestampOutput, idOutput } from '../scalars';
import { pageQuery, pageSchema } from '../lists';

/** An erasure of the personal data of a customer (rules 29.3). It never shows the customer. */
export const erasureSchema = z.strictObject({
  id: idOutput(),
  project_id: idOutput(),
  status: z.enum(['running', 'completed']),
  named_by: z.enum(ERASURE_FIELDS).describe('The field of the request that named the customer.'),
  order_id: idOutput().optional().describe('The payment order, if the request named one.'),
  orders: z.int().describe('Payment orders that were erased, each with the orders that follow it.'),
  created: timestampOutput(),
  completed: timestampOutput().optional(),
});
export type ErasureAnswer = z.infer<typeof erasureSchema>;
export const erasurePageSchema = pageSchema(erasureSchema);

export const erasureRequestSchema = z
  .object({
    project_id: idInput().meta({ format: 'uuid' }),
    merchant_customer_id: reference()
      .min(1)
      .optional()
      .describe('All orders with this `customer.merchant_customer_id`.'),
    email_address: reference()
      .min(1)
      .optional()
      .describe('All orders with this `customer.email_address`, in capital or small letters.'),
    order_id: idInput()
      .optional()
      .meta({ format: 'uuid' })
      .describe('This order alone, for example one without customer data that was paid on the page.'),
  })
  .superRefine((request, context) => {
    if (ERASURE_FIELDS.filter((name) => request[name] !== undefined).length === 1) return;
    const message = 'Expected one of merchant_customer_id, email_address and order_id.';
    context.addIssue({ code: 'custom', path: ['merchant_customer_id'], message, input: request });
  });

/** Erasures of customers. */
export const ERASURE_ROUTES = {
  eraseCustomer: {
    method: 'post',
    path: '/v1/erasures/',
    summary: "Erase a customer's data",
    description:
      'Erases the personal data of a customer in all orders of a project: the customer, order lines, extra, description and the name on the card, in the record, the search index, kept answers and the histories of workflows. Amounts, ids, statuses and masked card numbers stay. It cannot be undone.',
    body: erasureRequestSchema,
    output: erasureSchema,
    success: 201,
    errors: ['NotFound', 'Conflict'],
  },
  listErasures: {
    method: 'get',
    path: '/v1/erasures/',
    summary: 'List erasures',
    description: 'Erasures with their progress, newest first; a merchant sees those of its own projects.',
    query: pageQuery({ project_id: idInput().optional().meta({ format: 'uuid' }) }),
    output: erasurePageSchema,
  },
  getErasure: {
    method: 'get',
    path: '/v1/erasures/{erasure_id}/',
    summary: 'Get an erasure',
    description: 'An erasure with its progress.',
    params: z.object({ erasure_id: idInput() }),
    output: erasureSchema,
    errors: ['NotFound'],
  },
} as const satisfies Record<string, Route>;
