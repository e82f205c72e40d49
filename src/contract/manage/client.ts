import { z } from 'zod';
import type { Route } from '../routes';
import { idInput, timestampOutput, idOutput } from '../scalars';
import { overlapRequest, pageQuery, pageSchema } from '../lists';
import { nameText } from './merchant';

const role = () => z.enum(['operator', 'merchant']);

export const clientSchema = z.strictObject({
  client_id: idOutput(),
  name: nameText(),
  role: role().describe('An operator sees and changes everything; a merchant its own merchant.'),
  merchant_id: idOutput().optional().describe('The merchant of a client with role merchant.'),
  created: timestampOutput(),
  last_used: z.string().meta({ format: 'date' }).optional().describe('The day of its last token, in UTC.'),
  expires: timestampOutput()
    .optional()
    .describe('Time at which the secret before the current one stops working; absent without one.'),
});
export type ClientAnswer = z.infer<typeof clientSchema>;

export const newClientSchema = clientSchema.extend({
  client_secret: z.string().describe('The secret. It is shown this once.'),
});
export const clientRequestSchema = z.object({
  name: nameText(),
  role: role(),
  merchant_id: idInput().optional().meta({ format: 'uuid' }).describe('Required with role merchant, and only then.'),
});
export const clientPageSchema = pageSchema(clientSchema);
export const clientRollRequestSchema = overlapRequest('PT0S');

const clientParams = z.object({ client_id: idInput() });

export const CLIENT_ROUTES = {
  listClients: {
    method: 'get',
    path: '/v1/clients/',
    summary: 'List clients',
    description: 'The clients of this host that are not revoked. For operators.',
    query: pageQuery({}),
    output: clientPageSchema,
    operators_only: true,
  },
  createClient: {
    method: 'post',
    path: '/v1/clients/',
    summary: 'Create a client',
    description: 'Credentials for this host, for an operator or for the back office of a merchant. For operators.',
    body: clientRequestSchema,
    output: newClientSchema,
    operators_only: true,
    secret_owner_field: 'client_id',
    success: 201,
  },
  rollClient: {
    method: 'post',
    path: '/v1/clients/{client_id}/roll/',
    summary: 'Roll the secret of a client',
    description:
      'Gives the client a new secret, which the answer shows this once, and lets the old one work for the overlap. Tokens stay good. Only the new secret and the one before it work: if the answer is lost, another roll ends the secret that the client has. For operators.',
    params: clientParams,
    body: clientRollRequestSchema,
    body_optional: true,
    output: newClientSchema,
    operators_only: true,
    secret_owner_field: 'client_id',
    ignores_if_match: true,
    errors: ['NotFound'],
  },
  revokeClient: {
    method: 'delete',
    path: '/v1/clients/{client_id}/',
    summary: 'Revoke a client',
    description: 'Its secrets and its tokens are refused, for good. For operators.',
    params: clientParams,
    output: z.null(),
    operators_only: true,
    ignores_if_match: true,
    success: 204,
    errors: ['NotFound'],
  },
} as const satisfies Record<string, Route>;
