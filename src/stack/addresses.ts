import { simulatorDatabase, type Config } from '../config';
import { choosePorts, type WantedPort } from './ports';
import type { Secrets } from './secrets';

/** The configuration of a whole stack: where everything is, and every secret that its processes share. */
export type StackConfig = Config & {
  POSTGRES_URL: string;
  SIMULATOR_POSTGRES_URL: string;
  TEMPORAL_ADDRESS: string;
  MEILISEARCH_URL: string;
  PUBLIC_URL: string;
  PROCESSOR_URL: string;
  PAGE_SECRET: string;
  PAYLOAD_KEYS: string;
};

const LOOPBACK = '127.0.0.1';

/** The configuration with the port of everything that is started here. Throws a StackFailure that names the taken ones. */
export async function withPorts(config: Config): Promise<Config> {
  const wanted: (WantedPort | undefined)[] = [
    { variable: 'API_PORT', host: config.API_HOST, port: config.API_PORT },
    config.PROCESSOR_URL === undefined
      ? { variable: 'SIMULATOR_PORT', host: config.SIMULATOR_HOST, port: config.SIMULATOR_PORT }
      : undefined,
    config.POSTGRES_URL === undefined
      ? { variable: 'POSTGRES_PORT', host: LOOPBACK, port: config.POSTGRES_PORT }
      : undefined,
    config.MEILISEARCH_URL === undefined
      ? { variable: 'MEILISEARCH_PORT', host: LOOPBACK, port: config.MEILISEARCH_PORT }
      : undefined,
    ...(config.TEMPORAL_ADDRESS === undefined
      ? [
          { variable: 'TEMPORAL_PORT', host: LOOPBACK, port: config.TEMPORAL_PORT },
          { variable: 'TEMPORAL_UI_PORT', host: LOOPBACK, port: config.TEMPORAL_UI_PORT },
          { variable: 'CODEC_PORT', host: config.CODEC_HOST, port: config.CODEC_PORT },
        ]
      : []),
  ];
  return { ...config, ...(await choosePorts(wanted.filter((want) => want !== undefined))) };
}

/** Fills in the addresses and secrets that the environment leaves to the stack. */
export function resolveStack(config: Config, secrets: Secrets, env: NodeJS.ProcessEnv): StackConfig {
  const POSTGRES_URL =
    config.POSTGRES_URL ??
    `postgres://postgres:${secrets.postgres_password}@${LOOPBACK}:${config.POSTGRES_PORT}/payments`;
  const embeddedUi =
    config.TEMPORAL_ADDRESS === undefined ? `http://${LOOPBACK}:${config.TEMPORAL_UI_PORT}` : undefined;
  const embeddedKey = config.MEILISEARCH_URL === undefined ? secrets.meilisearch_key : undefined;
  return {
    ...config,
    POSTGRES_URL,
    SIMULATOR_POSTGRES_URL: config.SIMULATOR_POSTGRES_URL ?? simulatorDatabase(POSTGRES_URL),
    TEMPORAL_ADDRESS: config.TEMPORAL_ADDRESS ?? `${LOOPBACK}:${config.TEMPORAL_PORT}`,
    TEMPORAL_UI_URL: config.TEMPORAL_UI_URL ?? embeddedUi,
    MEILISEARCH_URL: config.MEILISEARCH_URL ?? `http://${LOOPBACK}:${config.MEILISEARCH_PORT}`,
    MEILISEARCH_KEY: config.MEILISEARCH_KEY ?? embeddedKey,
    PUBLIC_URL: config.PUBLIC_URL ?? localApiUrl(config),
    PROCESSOR_URL: config.PROCESSOR_URL ?? `http://${reachable(config.SIMULATOR_HOST)}:${config.SIMULATOR_PORT}`,
    PAGE_SECRET: config.PAGE_SECRET ?? secrets.page_secret,
    PAYLOAD_KEYS: config.PAYLOAD_KEYS ?? secrets.payload_keys,
    // A merchant who tries things out receives webhooks on the same machine.
    WEBHOOK_PRIVATE_ADDRESSES: env['WEBHOOK_PRIVATE_ADDRESSES'] !== 'false',
  };
}

/** Where this machine reaches the API. */
export function localApiUrl(config: Config): string {
  return `${config.TLS_CERT_FILE === undefined ? 'http' : 'https'}://${reachable(config.API_HOST)}:${config.API_PORT}`;
}

function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return LOOPBACK;
  return host.includes(':') ? `[${host}]` : host;
}
