import pino from 'pino';
import { v7 as uuidv7 } from 'uuid';
import document from '../../api/manage/openapi.json';
import { createApp } from '../../api/http/app';
import { keyStore } from '../../api/http/idempotency';
import { listen } from '../../api/http/server';
import { authenticateByToken } from '../../api/manage/authenticate';
import { createManageOperations } from '../../api/manage/operations';
import { newClientSecret } from '../../api/manage/operations/clients';
import { tokenEndpoint } from '../../api/manage/token-endpoint';
import { Tokens } from '../../api/manage/tokens';
import { MANAGE_API, TOKEN_PATH, TOKEN_SCOPE } from '../../src/contract/manage/manage-api';
import type { DeliveryKey } from '../../src/domain/delivery';
import type { Database } from '../../src/db/query';
import { insertOAuthClient, type Role } from '../../src/db/projects/oauth-clients';
import { createTestDatabase, secrets } from './database';

export interface ManageAnswer<Body = Record<string, unknown>> {
  status: number;
  headers: Headers;
  body: Body;
}

export interface ClientCredentials {
  client_id: string;
  client_secret: string;
}

/** The bearer-token host with a database of its own. */
export type ManageHost = Awaited<ReturnType<typeof aManageHost>>;

/** Serves the bearer-token host with a database alone. */
async function serveTestManage(db: Database, TRUSTED_PROXY: string) {
  /** Every log line. */
  const lines: string[] = [];
  /** Deliveries whose workflow was started, and those whose workflow was told that the record has changed. */
  const [started, told]: [DeliveryKey[], DeliveryKey[]] = [[], []];
  const issuer = 'https://manage.example.com';
  const tokens = new Tokens({ db, secrets, issuer });
  const app = createApp({
    host: 'manage',
    config: { API_DEADLINE_MS: 5_000, LOG_REQUESTS: 'all', RATE_LIMIT_PER_SECOND: 0, TRUSTED_PROXY },
    log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    api: {
      routes: MANAGE_API,
      operations: createManageOperations({
        db,
        secrets,
        deliveries: {
          start: (delivery) => Promise.resolve(void started.push(delivery)),
          resume: (delivery) => Promise.resolve(void told.push(delivery)),
        },
        webhook_recoveries: { start: () => Promise.resolve(), resume: () => Promise.resolve() },
        erasures: { start: () => Promise.resolve() },
        incidents: { resume: () => Promise.resolve() },
        webhook_private_addresses: true,
      }),
      authenticate: authenticateByToken({ db, tokens }),
      keysOf: ({ id }) => keyStore({ db, secrets }, id),
    },
    document,
    probes: [],
    routers: [tokenEndpoint({ db, secrets, tokens, issuer })],
  });
  const server = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    TLS_CERT_FILE: undefined,
    TLS_KEY_FILE: undefined,
    TRUSTED_PROXY,
  });
  return { server, tokens, lines, started, told };
}

async function readAnswer<Body>(response: Response): Promise<ManageAnswer<Body>> {
  const text = await response.text();
  const body = (text === '' ? undefined : JSON.parse(text)) as Body;
  return { status: response.status, headers: response.headers, body };
}

/** `TRUSTED_PROXY`: who may say in X-Forwarded-For where a request comes from. */
export async function aManageHost({ TRUSTED_PROXY = '' } = {}) {
  const database = await createTestDatabase();
  const { server, ...served } = await serveTestManage(database.db, TRUSTED_PROXY);
  const host = {
    database,
    url: server.url,
    ...served,
    /** A client that is made in the record. */
    async aClient(role: Role, merchant_id?: string): Promise<ClientCredentials> {
      const [client_id, client_secret] = [uuidv7(), newClientSecret()];
      const client = { client_id, name: `A client: ${role}`, role, merchant_id: merchant_id ?? null };
      await insertOAuthClient(database.db, client, secrets.hash(client_secret), new Date());
      return { client_id, client_secret };
    },
    /** The answer of the token endpoint to a form; absent fields are those of a good one. */
    async askToken(
      form: Record<string, string | undefined>,
      headers: Record<string, string> = {},
    ): Promise<ManageAnswer> {
      const whole = { grant_type: 'client_credentials', scope: TOKEN_SCOPE, ...form };
      const fields = Object.entries(whole).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
      const body = new URLSearchParams(fields as [string, string][]);
      return await readAnswer(await fetch(server.url + TOKEN_PATH, { method: 'POST', body, headers }));
    },
    /** A token of a new client. */
    async aToken(role: Role, merchant_id?: string): Promise<string> {
      const { body } = await host.askToken({ ...(await host.aClient(role, merchant_id)) });
      return String(body['access_token']);
    },
    async send<Body = Record<string, unknown>>(
      method: string,
      path: string,
      {
        token,
        body,
        headers = {},
      }: { token?: string | undefined; body?: unknown; headers?: Record<string, string> } = {},
    ): Promise<ManageAnswer<Body>> {
      const response = await fetch(server.url + path, {
        method,
        redirect: 'manual',
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return await readAnswer(response);
    },
    async close() {
      await server.close();
      await database.close();
    },
  };
  return host;
}
