import pino from 'pino';
import document from '../../api/openapi.json';
import { createApp, type AppDependencies } from '../../api/http/app';
import { authenticateByApiKey, type FindOwner } from '../../api/http/authenticate';
import type { KeyStore } from '../../api/http/idempotency';
import { listen } from '../../api/http/server';
import type { Project } from '../../src/db/projects/projects';
import type { MerchantContext, MerchantOperations, ProjectCaller } from '../../api/merchant';
import type { Config } from '../../src/config';
import { EXAMPLES } from '../../src/contract/examples';
import { MERCHANT_API, type MerchantRoutes } from '../../src/contract/merchant-api';
import { readsOnly, type Route } from '../../src/contract/routes';
import type { KeyRecord } from '../../src/db/requests/idempotency-keys';
import { SERIALIZERS } from '../../src/log';
import { secrets } from './database';

/** The HTTP surface over real HTTP with operations that only record what they are called with. */

export const API_PROJECT = {
  id: '0b1b8c1e-54a4-4b7c-9a8e-0f4f2f7f3c11',
  merchant_id: '5d3b8f0a-7b7e-4a63-8a8f-2f5b7f1c9d22',
  merchant_name: 'Demo',
  name: 'Demo test',
  is_test: true,
  status: 'active',
  payment_methods: ['credit-card'],
  currencies: ['EUR'],
  expiration_period: 'PT30M',
  transaction_expiration_period: 'PT30M',
  capture_expiration_period: 'P5D',
  webhook_url: null,
  account_funding: false,
  id_namespace: '4b5a1f0e-6d2c-4c3b-8a7f-1e2d3c4b5a69',
} satisfies Project;

export const OWNER = { project: API_PROJECT, api_key_id: '0123456789ab' };

export const API_KEY = 'test_0123456789ab0123456789abcdef0123456789abcdef01234567';
export const AUTHORIZATION = `Basic ${Buffer.from(`${API_KEY}:`).toString('base64')}`;

export interface Call {
  operation: keyof MerchantRoutes;
  context: MerchantContext;
  input: unknown;
}

export type TestApi = Awaited<ReturnType<typeof serveTestApi>>;

type Dependencies = AppDependencies<ProjectCaller>;

interface Options extends Partial<Pick<Dependencies, 'observers' | 'probes' | 'routers'>> {
  operations?: Partial<MerchantOperations>;
  findOwner?: FindOwner;
  keys?: KeyStore;
  config?: Partial<Dependencies['config'] & Pick<Config, 'API_KEY_CACHE_MS'>>;
  listen?: Partial<Parameters<typeof listen>[1]>;
}

export async function serveTestApi(options: Options = {}) {
  /** What reached an operation. */
  const calls: Call[] = [];
  /** Every log line, as JSON text. */
  const lines: string[] = [];
  const config = {
    API_DEADLINE_MS: 5_000,
    API_KEY_CACHE_MS: 0,
    LOG_REQUESTS: 'all' as const,
    RATE_LIMIT_PER_SECOND: 0,
    TRUSTED_PROXY: '',
    ...options.config,
  };
  const keys = options.keys ?? keysInMemory();
  const app = createApp({
    host: 'api',
    config,
    probes: options.probes ?? [],
    observers: options.observers ?? [],
    routers: options.routers ?? [],
    log: pino({ level: 'debug', serializers: SERIALIZERS }, { write: (line: string) => void lines.push(line) }),
    api: {
      routes: MERCHANT_API,
      operations: { ...recording(calls), ...options.operations },
      authenticate: authenticateByApiKey(
        options.findOwner ?? (async (api_key) => (api_key === API_KEY ? OWNER : undefined)),
        config.API_KEY_CACHE_MS,
      ),
      keysOf: () => keys,
    },
    document,
  });
  const server = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    TLS_CERT_FILE: undefined,
    TLS_KEY_FILE: undefined,
    TRUSTED_PROXY: config.TRUSTED_PROXY,
    ...options.listen,
  });
  /** Fetches with the API key, without following redirects. */
  const send = (path: string, init: RequestInit = {}) =>
    fetch(server.url + path, {
      redirect: 'manual',
      ...init,
      headers: { authorization: AUTHORIZATION, ...(init.headers as Record<string, string>) },
    });
  return {
    ...server,
    calls,
    lines,
    send,
    /** POST of a JSON value. */
    post: (path: string, body: unknown) =>
      send(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  };
}

export function keysInMemory(): KeyStore {
  const records = new Map<string, KeyRecord>();
  return {
    secrets,
    find: async (key) => records.get(key),
    claim: async ({ key, request_hashes: [request_hash] }, { refusal: answer } = {}) => {
      if (records.has(key)) return false;
      records.set(key, { request_hash: request_hash!, claimed_at: Date.now(), ...(answer && { answer }) });
      return true;
    },
    keep: async (key, answer) => (records.get(key)!.answer ??= answer),
  };
}

/** Operations that answer with the documentation's example, at its third version. */
function recording(calls: Call[]): MerchantOperations {
  const entries = (Object.keys(MERCHANT_API.routes) as (keyof MerchantRoutes)[]).map((operation) => [
    operation,
    async (context: MerchantContext, input: unknown) => {
      calls.push({ operation, context, input });
      const route: Route = MERCHANT_API.routes[operation];
      const { answer } = EXAMPLES[operation];
      const result = route.etag ? { body: answer, version: 3 } : answer;
      return readsOnly(route) ? result : async () => result;
    },
  ]);
  return Object.fromEntries(entries) as MerchantOperations;
}
