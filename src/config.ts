import { readFileSync } from 'node:fs';
import path from 'node:path';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { RETENTION_DAYS, type RetentionDays } from './domain/retention';

const portNumber = () => z.coerce.number().int().min(0).max(65_535);
const port = (standard: number) => portNumber().default(standard);
const flag = () =>
  z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true');
const text = () => z.string().optional();
const url = () => z.url({ protocol: /^https?$/ });
/** A malformed one would show its password in the error of whoever connects. */
const postgresUrl = () =>
  z
    .string()
    .refine(
      (address) => URL.canParse(address),
      'Expected postgres://user:password@host:port/database, percent-encoded.',
    )
    .optional();
const loopback = () => z.string().default('127.0.0.1');
const whole = (standard: number, [least, most]: [number, number]) =>
  z.coerce.number().int().min(least).max(most).default(standard);
const days = (retained: keyof RetentionDays) => whole(RETENTION_DAYS[retained], [1, 3_650]);
const rate = (standard: number) => whole(standard, [1, 1_000_000]);

/** What a worker does: runs orders, follow-up orders and payment links; sends webhooks; keeps leases and schedules. */
export const WORKER_ROLES = ['payments', 'webhooks', 'keeper'] as const;
export type WorkerRole = (typeof WORKER_ROLES)[number];

const PAGE_PORT_DEFAULT = 3003;

const REQUEST_MS = 12_000;
const LISTENER_MS = REQUEST_MS + 1_000;
const ACTIVITIES_MS = 23_000;
const PROCESS_MS = ACTIVITIES_MS + 2_000;
const SUPERVISOR_MS = PROCESS_MS + 5_000;

/**
 * Time limits of a shutdown, in milliseconds. Each is longer than the one before, so that running requests are still
 * answered and webhook attempts end. The last one, after the default of DRAIN_MS, is `stop_grace_period` of
 * docker-compose.yml (test/deploy/stop.test.ts compares them).
 */
export const STOP_LIMITS_MS = {
  /** The longest request: the default and the maximum of API_DEADLINE_MS. */
  request: REQUEST_MS,
  /** Then the API closes the remaining connections. */
  listener: LISTENER_MS,
  /** Then a worker gives up its activities: longer than the longest webhook attempt (rules 13.5). */
  activities: ACTIVITIES_MS,
  /** Then a process exits, finished or not; an API drains before (DRAIN_MS). */
  process: PROCESS_MS,
  /** Then the supervisor of `npm start` kills it. */
  supervisor: SUPERVISOR_MS,
} as const;

/**
 * All environment variables of all processes, with default, unit and meaning, in the order of `.env.example`, which is
 * generated from this file. `src/main` parses them once and passes values on.
 */
export const configSchema = z.object({
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('Lowest level that is logged.'),
  LOG_REQUESTS: z
    .enum(['all', 'errors', 'none'])
    .default('all')
    .describe(
      'Requests, operations at the processor and webhook attempts that log a line, at level info; errors: those that failed.',
    ),
  DATA_DIR: z.string().default('.data').describe('Data folder of the embedded servers; also holds stack.json.'),
  TOOLS_DIR: z.string().default('.tools').describe('Folder for the Temporal servers that are downloaded or built.'),

  API_HOST: loopback().describe('Address the API listens on.'),
  API_PORT: port(3000).describe('Port of the API and of the hosted page; 0 picks a free one.'),
  PUBLIC_URL: url()
    .optional()
    .describe('Address at which merchants and customers reach the API; default: host and port of the API.'),
  API_DEADLINE_MS: whole(STOP_LIMITS_MS.request, [3_000, STOP_LIMITS_MS.request]).describe(
    'Milliseconds an API request may take; then it returns the stored order, or 503 if there is none.',
  ),
  DRAIN_MS: whole(5_000, [0, 60_000]).describe(
    'Milliseconds for which the API and the bearer-token host, told to stop, are not ready and still answer, so that a load balancer sends requests elsewhere. npm start does not wait.',
  ),
  TRUSTED_PROXY: z
    .string()
    .default('')
    .describe(
      'Addresses or subnets of the TLS proxy in front of the API, separated by commas; required if API_HOST is not loopback.',
    ),
  TLS_CERT_FILE: text().describe(
    'PEM file with the certificate chain of the API; with TLS_KEY_FILE the API serves only https (TLS 1.2 or newer).',
  ),
  TLS_KEY_FILE: text().describe('PEM file with the private key of TLS_CERT_FILE.'),
  API_KEY_CACHE_MS: whole(1_000, [1, 2_000]).describe(
    'Milliseconds for which API keys are cached, at most 2000; a revoked key works that much longer.',
  ),
  RATE_LIMIT_PER_SECOND: whole(100, [0, 1_000_000]).describe(
    'Requests per second of one project to one API process; the burst is twice that. 0 turns this limit and the page limits off.',
  ),
  PAGE_RATE_LIMIT_PER_SECOND: rate(100).describe(
    'Requests per second from one client address to the hosted pages of one API process.',
  ),
  PAGE_RATE_LIMIT_BURST: rate(400).describe('Burst of requests from one client address to the hosted pages.'),
  FORM_RATE_LIMIT_PER_SECOND: rate(5).describe(
    'Form submissions per second on the hosted page of one order, for one API process.',
  ),
  FORM_RATE_LIMIT_BURST: rate(30).describe('Burst of form submissions on the hosted page of one order.'),
  LINK_FORM_RATE_LIMIT_PER_SECOND: rate(20).describe(
    'Form submissions per second on the hosted page of one payment link, for one API process.',
  ),
  LINK_FORM_RATE_LIMIT_BURST: rate(100).describe('Burst of form submissions on the hosted page of one payment link.'),

  MANAGE_HOST: loopback().describe('Address the bearer-token host listens on.'),
  MANAGE_PORT: port(3002).describe('Port of the bearer-token host; 0 picks a free one.'),
  MANAGE_PUBLIC_URL: url()
    .optional()
    .describe(
      'Address at which clients reach the bearer-token host, and issuer of its tokens; default: its host and port.',
    ),
  SECRET_KEYS: text().describe(
    'Keys that protect secrets in the database: id:base64 of 32 bytes, separated by commas. The first protects new secrets. npm start creates one.',
  ),
  WORKER_ROLES: z
    .string()
    .default(WORKER_ROLES.join(','))
    .transform((value) => [...new Set(value.split(',').map((role) => role.trim()))])
    .pipe(z.array(z.enum(WORKER_ROLES)))
    .describe(
      'What a worker does, separated by commas: payments runs orders and links, webhooks sends webhooks, keeper has recovery, indexer and schedules.',
    ),
  DEPLOYMENT_VERSIONING: z
    .enum(['off', 'operator', 'automatic'])
    .default('off')
    .describe(
      'Whether open workflows stay on the version of the code that they began with; the same on every worker. operator: admin deploy chooses the version of new ones. automatic: a worker that starts chooses its own and moves open ones to it, for one machine; npm start sets it.',
    ),
  TEMPORAL_DEPLOYMENT_NAME: z
    .string()
    .regex(/^[\w./-]+$/, 'Expected letters, digits, ".", "/", "_" and "-".')
    .default('payments')
    .describe(
      "Name of the Worker Deployment in Temporal, the same on every process. Temporal's Worker Controller sets it.",
    ),
  TEMPORAL_WORKER_BUILD_ID: text().describe(
    "Version of the workflows in Temporal; default: the service's version and a hash of the workflows. Temporal's Worker Controller sets it.",
  ),
  CHARGES_AT_ONCE: whole(50, [1, 500]).describe(
    'Charges and other calls of the processor that wait for its answer in workflow tasks of one worker; further ones become activity tasks. Charges a second times seconds of a charge, times two for peaks.',
  ),
  WORKER_HEALTH_HOST: loopback().describe('Address on which a worker answers health checks.'),
  WORKER_HEALTH_PORT: portNumber()
    .optional()
    .describe('Port on which a worker answers /health/live and /health/ready; default: no health checks.'),
  METRICS_HOST: loopback().describe('Address on which a process answers scrapes of its metrics.'),
  METRICS_PORT: portNumber()
    .optional()
    .describe(
      'Port on which a process answers /metrics for Prometheus; default: no metrics. npm start gives each process a port of its own.',
    ),
  WORKFLOW_CALL_STACKS: flag().describe(
    'true: the Call Stack tab of the Temporal Web UI works, for about twice the CPU time of workflow code.',
  ),

  SIMULATOR_HOST: loopback().describe(
    'Address the simulator listens on for programs: API, control API and ledger. Never use a public one.',
  ),
  SIMULATOR_PORT: port(3001).describe('Port of the processor simulator for programs; 0 picks a free one.'),
  SIMULATOR_CONTROL_KEY: z
    .string()
    .min(16)
    .optional()
    .describe('Key for the control API and ledger of the simulator, 16 characters or more; npm start creates one.'),
  SIMULATOR_PAGE_HOST: loopback().describe('Address the 3-D Secure page of the simulator listens on.'),
  SIMULATOR_PAGE_PORT: portNumber()
    .optional()
    .describe(
      `Port of that page; 0 picks a free one; default: ${PAGE_PORT_DEFAULT}, with SIMULATOR_PORT=0 a free one.`,
    ),
  SIMULATOR_PUBLIC_URL: url()
    .optional()
    .describe(
      'Address at which customers reach the 3-D Secure page of the simulator; default: SIMULATOR_PAGE_HOST and its port.',
    ),
  SIMULATOR_POSTGRES_URL: postgresUrl().describe(
    "The simulator's own database; default: the database simulator on the server of POSTGRES_URL.",
  ),
  PROCESSOR_URL: url().optional().describe('Address of the processor; default: the simulator.'),
  PROCESSOR_KEY: z
    .string()
    .default('sk_simulator_development_only')
    .describe('Key with which the service signs in to the processor; required if PROCESSOR_URL is not loopback.'),
  PROCESSOR_TIMEOUT_MS: whole(4_000, [1, 4_000]).describe(
    'Milliseconds a processor call may take, at most 4000; then its outcome is unknown.',
  ),
  PROCESSOR_NOTIFICATION_URL: url()
    .optional()
    .describe(
      'Address to which the simulator sends notifications; default: /processor/notifications/ below PUBLIC_URL. Without either it sends none.',
    ),
  PROCESSOR_NOTIFICATION_SECRET: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/]{20,}={0,2}(,whsec_[A-Za-z0-9+/]{20,}={0,2})?$/)
    .default('whsec_c2ltdWxhdG9yX2RldmVsb3BtZW50X29ubHk=')
    .describe(
      'Secret that signs the notifications of the processor (Standard Webhooks): whsec_ and base64; required if PROCESSOR_URL is not loopback. Of two, separated by a comma, the API accepts both, and the simulator signs with the first.',
    ),

  POSTGRES_URL: postgresUrl().describe(
    'PostgreSQL 16 or newer; default: the embedded one. For TLS add ?sslmode=verify-full, and &sslrootcert= with the PEM file of a CA of your own.',
  ),
  POSTGRES_PASSWORD_FILE: text().describe(
    'File with the password of the role in POSTGRES_URL, read again when it has changed; default: the password in POSTGRES_URL.',
  ),
  POSTGRES_OWNER_URL: postgresUrl().describe(
    'For the migration and admin export remove: the same database with the role that owns the schema; default: POSTGRES_URL.',
  ),
  POSTGRES_CONNECTIONS_MAX: whole(10, [3, 1_000]).describe('Maximum connections to Postgres per process.'),
  POSTGRES_PORT: port(5433).describe('Port of the embedded PostgreSQL; 0 picks a free one.'),

  BACKUP_RESTORE_COMMAND: text().describe(
    'For admin backup check: shell command that restores the newest backup into the empty folder %p (already quoted), and writes recovery.signal and, in postgresql.auto.conf, restore_command, as pgbackrest restore does; %% is a percent sign.',
  ),

  TEMPORAL: z
    .enum(['dev', 'cluster'])
    .default('dev')
    .describe(
      'Embedded Temporal server. dev: the development server; cluster: server, database and Web UI that docker-compose.yml deploys.',
    ),
  TEMPORAL_ADDRESS: text().describe('host:port of a Temporal server; default: the embedded one.'),
  TEMPORAL_PORT: port(7233).describe('Port of the embedded Temporal server; 0 picks a free one.'),
  TEMPORAL_UI_PORT: port(8233).describe('Port of the embedded Temporal Web UI; 0 picks a free one.'),
  TEMPORAL_UI_URL: url().optional().describe('Address of the Temporal Web UI, unless the server is the embedded one.'),
  TEMPORAL_NAMESPACE: z.string().default('payments').describe('Temporal namespace.'),
  TEMPORAL_API_KEY: text().describe('API key for TEMPORAL_ADDRESS, for example of Temporal Cloud; turns TLS on.'),
  TEMPORAL_TLS: z
    .enum(['true', 'false'])
    .optional()
    .describe('true: TLS to TEMPORAL_ADDRESS; default: on with an API key or any TEMPORAL_TLS_ variable.'),
  TEMPORAL_TLS_CLIENT_CERT_PATH: text().describe(
    'PEM file with the client certificate for mTLS to TEMPORAL_ADDRESS; requires TEMPORAL_TLS_CLIENT_KEY_PATH.',
  ),
  TEMPORAL_TLS_CLIENT_KEY_PATH: text().describe('PEM file with the private key of TEMPORAL_TLS_CLIENT_CERT_PATH.'),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: text().describe(
    'PEM file with the CA of the certificate of TEMPORAL_ADDRESS; default: the CAs of the system.',
  ),
  TEMPORAL_TLS_SERVER_NAME: text().describe(
    'Name in the certificate of TEMPORAL_ADDRESS, if it differs from the host.',
  ),
  TEMPORAL_CLI_PATH: text().describe('Path of the temporal command line tool; default: PATH, .tools, download, build.'),
  TEMPORAL_TEST_SERVER_PATH: text().describe(
    'Path of the time-skipping test server; default: PATH, .tools, download, build.',
  ),

  MEILISEARCH_URL: url().optional().describe('Meilisearch 1.21 or newer; default: the embedded one.'),
  MEILISEARCH_KEY: text().describe('Master key of Meilisearch; default: created at the first start.'),
  MEILISEARCH_PORT: port(7700).describe('Port of the embedded Meilisearch; 0 picks a free one.'),
  MEILISEARCH_PATH: text().describe('Path of the meilisearch binary; default: the platform package, then PATH.'),

  DEMO_WEBHOOK_URL: url().optional().describe('Webhook address of both projects of the demo merchant.'),
  WEBHOOK_PRIVATE_ADDRESSES: flag().describe(
    'true: test projects may send webhooks to private and loopback addresses. npm start sets it.',
  ),
  RETENTION_LOGGED_REQUESTS_DAYS: days('logged_requests').describe('Days for which the request log keeps a request.'),
  RETENTION_RECEIVER_CHECKS_DAYS: days('receiver_checks').describe('Days for which a receiver check is kept.'),
  RETENTION_IDEMPOTENCY_ANSWERS_DAYS: days('idempotency_answers').describe(
    'Days for which the answer of a request with an Idempotency-Key is kept word for word; later repeats get its object.',
  ),
  RETENTION_WEBHOOK_ATTEMPTS_DAYS: days('webhook_attempts').describe(
    'Days for which the attempts of a delivered or failed webhook are kept.',
  ),
  RETENTION_ORDERS_YEARS: whole(7, [1, 100]).describe(
    'Years after the end of a month before which admin export remove refuses to remove its orders and audit trail.',
  ),
  AUDIT_MARGIN_SECONDS: whole(900, [0, 86_400]).describe(
    'Seconds after which the audit expects a change at the processor in the record, and one in the record at the processor.',
  ),
  AUDIT_ORDERS_PER_SECOND: whole(200, [1, 100_000]).describe(
    'Orders per second that the audit compares with the processor and the search index, at most.',
  ),
  OPERATOR_WEBHOOK_URL: url()
    .optional()
    .describe('Address that receives the events incident_opened and incident_closed; default: none are sent.'),
  OPERATOR_WEBHOOK_SECRET: z
    .string()
    .regex(/^whsec_[A-Za-z0-9+/]{20,}={0,2}$/)
    .optional()
    .describe(
      'Secret that signs these events (Standard Webhooks): whsec_ and base64; required with OPERATOR_WEBHOOK_URL.',
    ),
  PAGE_SECRET: z
    .string()
    .regex(/^[^,]{32,}(,[^,]{32,})?$/, 'needs 32 characters or more, of two separated by a comma each')
    .optional()
    .describe(
      'Secret that signs the forms of the hosted page: at least 32 characters, the same on every API process. Of two, separated by a comma, the first signs and both are accepted. npm start creates one.',
    ),
  PAYLOAD_KEYS: text().describe(
    'Keys that encrypt Temporal payloads: id:base64 of 32 bytes, separated by commas, the same on every process. The first encrypts, all decrypt. npm start creates one.',
  ),
  CODEC_HOST: loopback().describe(
    'Address that the codec server listens on. It decrypts payloads for the Temporal Web UI.',
  ),
  CODEC_TOKEN_ISSUER: url()
    .optional()
    .describe(
      'OpenID Connect issuer at which operators sign in to the Web UI; the codec server then requires its tokens.',
    ),
  CODEC_TOKEN_AUDIENCE: text().describe('Audience of these tokens; required with CODEC_TOKEN_ISSUER.'),
  CODEC_TRUSTED_PROXY: text().describe(
    'Addresses or subnets, separated by commas, of the proxy that signs operators in to the codec server and sends X-Forwarded-User.',
  ),
  CODEC_PORT: port(8234).describe('Port of the codec server; 0 picks a free one.'),
  ADMIN_USER: z
    .string()
    .regex(/^[\p{L}\p{N}][\p{L}\p{M}\p{N} .@_+-]{0,99}$/u, 'needs a name or an e-mail address')
    .optional()
    .describe('Who runs the command line, for the audit trail; default: the user of the operating system.'),
  CHROMIUM_PATH: text().describe('Path of Chrome or Chromium for the page tests; default: the npm package, on Linux.'),

  OTEL_TRACES_EXPORTER: z
    .enum(['otlp', 'none'])
    .optional()
    .describe('otlp: traces are sent by OTLP over HTTP (protobuf); default: if an endpoint is set.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url()
    .optional()
    .describe('Address of the OpenTelemetry collector; traces are sent to /v1/traces below it.'),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url()
    .optional()
    .describe('Address to which traces are sent, if it is not /v1/traces below OTEL_EXPORTER_OTLP_ENDPOINT.'),
  OTEL_EXPORTER_OTLP_HEADERS: text().describe(
    'Headers for the collector, such as a key: name=value, separated by commas.',
  ),
  OTEL_EXPORTER_OTLP_TIMEOUT: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe('Milliseconds in which the collector must take spans, repeats included; default: 10000.'),
  OTEL_SERVICE_NAME: text().describe('Name of the process in traces; default: payments-api, payments-worker, ….'),
  OTEL_RESOURCE_ATTRIBUTES: text().describe('Further attributes of the process: name=value, separated by commas.'),
  OTEL_TRACES_SAMPLER: z
    .enum([
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ])
    .optional()
    .describe('Which traces are recorded; default: parentbased_always_on, all of them.'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('Share of the traces that the traceidratio samplers record, 0 to 1.'),
  OTEL_BSP_SCHEDULE_DELAY: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe('Milliseconds for which spans are gathered before they are sent; default: 5000.'),
});

/** What proves to Temporal who clients and workers are, and checks the server. */
export const TEMPORAL_CREDENTIALS = [
  'TEMPORAL_API_KEY',
  'TEMPORAL_TLS',
  'TEMPORAL_TLS_CLIENT_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_KEY_PATH',
  'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  'TEMPORAL_TLS_SERVER_NAME',
] as const satisfies readonly (keyof Config)[];

export type Config = z.infer<typeof configSchema>;

/** The variables of an environment that are set: one with an empty or blank value is not. */
export const setVariables = (env: Record<string, string | undefined>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''));

/** Parses the environment. Throws one Error that lists each invalid variable with the reason. */
export function parseConfig(env: Record<string, string | undefined>): Config {
  const parsed = configSchema.safeParse(setVariables(env));
  if (parsed.success) {
    return {
      ...parsed.data,
      DATA_DIR: path.resolve(parsed.data.DATA_DIR),
      TOOLS_DIR: path.resolve(parsed.data.TOOLS_DIR),
    };
  }
  const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`The environment is wrong:\n${lines.join('\n')}`);
}

/** The values of a variable that takes several, separated by commas. The first is the one to use, all are accepted. */
export const valuesOf = (text: string): string[] => text.split(',');

/** Returns a variable that this process requires although others do not. Throws an Error that names it. */
export function requireSetting<K extends keyof Config>(config: Config, name: K): NonNullable<Config[K]> {
  const value = config[name];
  if (value === undefined || value === null || value === '') {
    throw new Error(`${name} is not set: ${configSchema.shape[name].description ?? ''}`);
  }
  return value as NonNullable<Config[K]>;
}

/**
 * Returns what the service and its processor share. Throws an Error that names it if it is the default, which is
 * public, and the processor is on another machine.
 */
export function processorSecret(config: Config, name: 'PROCESSOR_KEY' | 'PROCESSOR_NOTIFICATION_SECRET'): string {
  const { [name]: value, PROCESSOR_URL } = config;
  const isDefault = valuesOf(value).includes(configSchema.shape[name].parse(undefined));
  if (isDefault && PROCESSOR_URL !== undefined && !isLoopback(new URL(PROCESSOR_URL).hostname)) {
    throw new Error(`${name} has its default, which is public: ${configSchema.shape[name].description ?? ''}`);
  }
  return value;
}

/** How many days each kind of old rows is kept (rules 29.1). */
export const retentionDays = (config: Config): RetentionDays => ({
  ...RETENTION_DAYS,
  logged_requests: config.RETENTION_LOGGED_REQUESTS_DAYS,
  receiver_checks: config.RETENTION_RECEIVER_CHECKS_DAYS,
  idempotency_answers: config.RETENTION_IDEMPOTENCY_ANSWERS_DAYS,
  webhook_attempts: config.RETENTION_WEBHOOK_ATTEMPTS_DAYS,
});

/** The address with the password that a file has. A line break at its end does not belong to it. */
export function withPassword(postgres_url: string, file_text: string): string {
  const url = new URL(postgres_url);
  url.password = encodeURIComponent(file_text.replace(/\r?\n$/, ''));
  return url.href;
}

/**
 * POSTGRES_URL with the password that POSTGRES_PASSWORD_FILE has now, where there is one: for what connects once. Throws
 * an Error when the file cannot be read.
 */
export function postgresUrlWithPassword(
  postgres_url: string,
  { POSTGRES_PASSWORD_FILE: file }: Pick<Config, 'POSTGRES_PASSWORD_FILE'>,
): string {
  return file === undefined
    ? postgres_url
    : withPassword(postgres_url, readNamedFile('POSTGRES_PASSWORD_FILE', file).toString());
}

/**
 * The default of SIMULATOR_POSTGRES_URL: the database `simulator` on the server of the service's database.
 */
export function simulatorDatabase(postgres_url: string): string {
  const url = new URL(postgres_url);
  url.pathname = '/simulator';
  return url.href;
}

/** The port of the simulator's 3-D Secure page. */
export function simulatorPagePort({ SIMULATOR_PAGE_PORT, SIMULATOR_PORT }: Config): number {
  return SIMULATOR_PAGE_PORT ?? (SIMULATOR_PORT === 0 ? 0 : PAGE_PORT_DEFAULT);
}

/** Where this machine reaches the API. */
export function localApiUrl(config: Config): string {
  return localUrl(config, config.API_HOST, config.API_PORT);
}

/** Where this machine reaches the bearer-token host. */
export function localManageUrl(config: Config): string {
  return localUrl(config, config.MANAGE_HOST, config.MANAGE_PORT);
}

function localUrl({ TLS_CERT_FILE }: Config, host: string, port: number): string {
  return `${TLS_CERT_FILE === undefined ? 'http' : 'https'}://${reachable(host)}:${port}`;
}

/** The host of an address at which this machine reaches what listens on a host. */
export function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** Whether an address, or the name localhost, is this machine's own. Of a URL an IPv6 address is in brackets. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  return address === 'localhost' || (ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback');
}

/** The content of the file that a variable names. Throws an Error that names both when it cannot be read. */
export function readNamedFile(variable: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new Error(`${variable} names a file that cannot be read: ${file}`, { cause });
  }
}
