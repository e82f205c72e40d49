import { Agent, request, type Dispatcher } from 'undici';
import { v7 as uuidv7 } from 'uuid';
import { insertMerchant } from '../db/projects/merchants';
import { upsertProject } from '../db/projects/projects';
import type { WebhookSecretVault } from '../db/webhooks/webhook-secrets';
import type { BenchStack } from './stack';

/** A request to the API. An object as its body is sent as JSON. */
interface BenchRequest {
  api_key?: string;
  headers?: Record<string, string>;
  body?: object | string | undefined;
}

/**
 * Requests to the API over kept-alive connections, as a merchant's server has them. `limits`: other time limits than
 * those of undici.
 */
export function createApiClient(
  { facts }: BenchStack,
  limits: Pick<Agent.Options, 'bodyTimeout' | 'headersTimeout'> = {},
) {
  const agent = new Agent({ keepAliveTimeout: 60_000, ...limits });
  return {
    agent,
    send: (
      method: Dispatcher.HttpMethod,
      path: string,
      { api_key, headers, body }: BenchRequest = {},
    ): Promise<Dispatcher.ResponseData> =>
      request(facts.api_url + path, {
        dispatcher: agent,
        method,
        headers: {
          ...(api_key !== undefined && { authorization: `Basic ${Buffer.from(`${api_key}:`).toString('base64')}` }),
          ...(typeof body === 'object' && { 'content-type': 'application/json' }),
          ...headers,
        },
        body: typeof body === 'object' ? JSON.stringify(body) : (body ?? null),
      }),
    close: () => agent.destroy(),
  };
}

/** Makes test projects of a new merchant; returns their ids. */
export async function insertProjects(vault: WebhookSecretVault, name: string, count: number): Promise<string[]> {
  const [merchant_id, now] = [uuidv7(), new Date()];
  await insertMerchant(vault.db, { id: merchant_id, name, country: 'NL', default_currency: 'EUR' }, now);
  const ids = Array.from({ length: count }, () => uuidv7());
  for (const id of ids) {
    const project = { id, name, is_test: true, payment_methods: [], currencies: ['EUR'] };
    await upsertProject(vault, merchant_id, project, now);
  }
  return ids;
}
