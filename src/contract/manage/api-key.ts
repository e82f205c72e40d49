import { z } from 'zod';
import type { Route } from '../routes';
import { timestampOutput, idOutput } from '../scalars';
import { overlapRequest, pageQuery, pageSchema } from '../lists';
import { projectParams } from './project';

export const apiKeySchema = z.strictObject({
  id: z.string(),
  project_id: idOutput(),
  prefix: z.string().describe('The part of the key that may be shown.'),
  created: timestampOutput(),
  last_used: z.string().meta({ format: 'date' }).optional().describe('The day of its last use, in UTC.'),
  expires: timestampOutput().optional().describe('Time at which it stops working; absent: it does not expire.'),
});
export type ApiKeyAnswer = z.infer<typeof apiKeySchema>;

export const newApiKeySchema = apiKeySchema.extend({
  key: z.string().describe('The whole key. It is shown this once.'),
});
export const apiKeyPageSchema = pageSchema(apiKeySchema);
export const apiKeyRollRequestSchema = overlapRequest('PT24H');

const keyParams = z.object({ id: z.string().regex(/^[0-9a-f]{12}$/, 'Expected 12 characters 0-9 and a-f.') });

export const API_KEY_ROUTES = {
  listApiKeys: {
    method: 'get',
    path: '/v1/projects/{project_id}/api-keys/',
    summary: 'List API keys',
    description: 'The keys of a project that work.',
    params: projectParams,
    query: pageQuery({}),
    output: apiKeyPageSchema,
    errors: ['NotFound'],
  },
  createApiKey: {
    method: 'post',
    path: '/v1/projects/{project_id}/api-keys/',
    summary: 'Create an API key',
    description:
      'A further key of the project. The answer shows it this once. If that answer is lost, revoke the key and create another. With 20 keys that work it is a Conflict.',
    params: projectParams,
    output: newApiKeySchema,
    secret_owner_field: 'id',
    ignores_if_match: true,
    success: 201,
    errors: ['NotFound', 'Conflict'],
  },
  rollApiKey: {
    method: 'post',
    path: '/v1/api-keys/{id}/roll/',
    summary: 'Roll an API key',
    description:
      'Makes a new key, which the answer shows this once, and lets the old one work for the overlap. If that answer is lost, revoke the new key and create another before the overlap ends. A key that was rolled before is a Conflict, and so is a roll after which more than 20 keys work.',
    params: keyParams,
    body: apiKeyRollRequestSchema,
    body_optional: true,
    output: newApiKeySchema,
    secret_owner_field: 'id',
    ignores_if_match: true,
    success: 201,
    errors: ['NotFound', 'Conflict'],
  },
  revokeApiKey: {
    method: 'delete',
    path: '/v1/api-keys/{id}/',
    summary: 'Revoke an API key',
    description: 'The key is refused within two seconds, for good.',
    params: keyParams,
    output: z.null(),
    ignores_if_match: true,
    success: 204,
    errors: ['NotFound'],
  },
} as const satisfies Record<string, Route>;
