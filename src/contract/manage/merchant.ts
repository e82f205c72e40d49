import { z } from 'zod';
import { hasUnseen } from '../../domain/shown-text';
import type { Route } from '../routes';
import { country, currency, idInput, timestampOutput, idOutput } from '../scalars';
import { pageQuery, pageSchema } from '../lists';

/** Names of merchants, projects and clients (rules 21.21). */
export const nameText = () =>
  z
    .string()
    .max(255)
    .regex(/\S/, 'Expected text that is not empty.')
    .refine(
      (name) => !hasUnseen(name),
      'Expected text without line breaks, control, format and private-use characters.',
    )
    .meta({ examples: ['Demo Books'] });

export const merchantSchema = z.strictObject({
  id: idOutput(),
  name: nameText().describe('Shown to customers on the hosted page.'),
  country: country(),
  default_currency: currency().describe('The currency of a new project that names none.'),
  created: timestampOutput(),
  modified: timestampOutput(),
});
export type ManagedMerchant = z.infer<typeof merchantSchema>;

export const merchantRequestSchema = z.object({
  name: nameText(),
  country: country(),
  default_currency: currency(),
});
export const merchantUpdateSchema = merchantRequestSchema.partial();
export const merchantPageSchema = pageSchema(merchantSchema);

export const merchantParams = z.object({ merchant_id: idInput() });

export const MERCHANT_ROUTES = {
  listMerchants: {
    method: 'get',
    path: '/v1/merchants/',
    summary: 'List merchants',
    description: 'Every merchant of the installation. For operators.',
    query: pageQuery({}),
    output: merchantPageSchema,
    operators_only: true,
  },
  createMerchant: {
    method: 'post',
    path: '/v1/merchants/',
    summary: 'Create a merchant',
    description: 'For operators. Give the merchant a project next, and its back office a client.',
    body: merchantRequestSchema,
    output: merchantSchema,
    operators_only: true,
    success: 201,
  },
  getMerchant: {
    method: 'get',
    path: '/v1/merchants/{merchant_id}/',
    summary: 'Get a merchant',
    description: 'Name, country and default currency of a merchant.',
    params: merchantParams,
    output: merchantSchema,
    errors: ['NotFound'],
  },
  updateMerchant: {
    method: 'put',
    path: '/v1/merchants/{merchant_id}/',
    summary: 'Change a merchant',
    description: 'Changes the fields that are sent.',
    params: merchantParams,
    body: merchantUpdateSchema,
    output: merchantSchema,
    ignores_if_match: true,
    errors: ['NotFound'],
  },
} as const satisfies Record<string, Route>;
