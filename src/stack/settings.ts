import { randomBytes } from 'node:crypto';
import path from 'node:path';
import {
  localApiUrl,
  localManageUrl,
  postgresUrlWithPassword,
  reachable,
  setVariables,
  simulatorDatabase,
  simulatorPagePort,
  type Config,
} from '../config';
import { keepInFile } from './keep-in-file';
import { choosePorts, type WantedPort } from './ports';

/** The configuration of a whole stack: where everything is, and every secret that its processes share. */
export type StackConfig = Config & {
  POSTGRES_URL: string;
  POSTGRES_OWNER_URL: string;
  SIMULATOR_POSTGRES_URL: string;
  TEMPORAL_ADDRESS: string;
  MEILISEARCH_URL: string;
  PUBLIC_URL: string;
  PROCESSOR_URL: string;
  SIMULATOR_CONTROL_KEY: string;
  PAGE_SECRET: string;
  PAYLOAD_KEYS: string;
  MANAGE_PUBLIC_URL: string;
  SECRET_KEYS: string;
  METRICS_PORTS: MetricsPorts;
  CLUSTER_PORTS: ClusterPorts;
};

/** Each process that exports metrics has a METRICS_PORT of its own. */
type MetricsPorts = Record<(typeof WITH_METRICS)[number], number>;
const WITH_METRICS = ['api', 'manage', 'worker'] as const;

/** Ports of the cluster's own, by the variables of Temporal's server; POSTGRES_PORT is that of its database. */
type ClusterPorts = Partial<Record<(typeof OF_CLUSTER)[number], number>>;
const OF_CLUSTER = [
  'POSTGRES_PORT',
  'FRONTEND_HTTP_PORT',
  'FRONTEND_MEMBERSHIP_PORT',
  'HISTORY_GRPC_PORT',
  'HISTORY_MEMBERSHIP_PORT',
  'MATCHING_GRPC_PORT',
  'MATCHING_MEMBERSHIP_PORT',
  'WORKER_GRPC_PORT',
  'WORKER_MEMBERSHIP_PORT',
] as const;

const LOOPBACK = '127.0.0.1';

/** How withPorts names the port of a process. */
const metricsPort = (name: string) => `METRICS_PORT of ${name}`;
const clusterPort = (name: string) => `${name} of the Temporal cluster`;

/**
 * The configuration with the ports of all servers and processes to start. METRICS_PORT is that of the API, the next
 * ports those of the others. Throws a StackFailure that names the ports in use.
 */
export async function withPorts(
  config: Config,
): Promise<Config & Pick<StackConfig, 'METRICS_PORTS' | 'CLUSTER_PORTS'>> {
  const wanted: WantedPort[] = [
    { variable: 'API_PORT', host: config.API_HOST, port: config.API_PORT },
    { variable: 'MANAGE_PORT', host: config.MANAGE_HOST, port: config.MANAGE_PORT },
  ];
  if (config.PROCESSOR_URL === undefined) {
    wanted.push(
      { variable: 'SIMULATOR_PORT', host: config.SIMULATOR_HOST, port: config.SIMULATOR_PORT },
      { variable: 'SIMULATOR_PAGE_PORT', host: config.SIMULATOR_PAGE_HOST, port: simulatorPagePort(config) },
    );
  }
  if (config.POSTGRES_URL === undefined) {
    wanted.push({ variable: 'POSTGRES_PORT', host: LOOPBACK, port: config.POSTGRES_PORT });
  }
  if (config.MEILISEARCH_URL === undefined) {
    wanted.push({ variable: 'MEILISEARCH_PORT', host: LOOPBACK, port: config.MEILISEARCH_PORT });
  }
  if (config.TEMPORAL_ADDRESS === undefined) {
    wanted.push(
      { variable: 'TEMPORAL_PORT', host: LOOPBACK, port: config.TEMPORAL_PORT },
      { variable: 'TEMPORAL_UI_PORT', host: LOOPBACK, port: config.TEMPORAL_UI_PORT },
      { variable: 'CODEC_PORT', host: config.CODEC_HOST, port: config.CODEC_PORT },
    );
    if (config.TEMPORAL === 'cluster') {
      wanted.push(...OF_CLUSTER.map((name) => ({ variable: clusterPort(name), host: LOOPBACK, port: 0 })));
    }
  }
  const { METRICS_HOST: host, METRICS_PORT: first = 0 } = config;
  WITH_METRICS.forEach((name, n) =>
    wanted.push({ variable: metricsPort(name), host, port: first === 0 ? 0 : first + n }),
  );
  const chosen = await choosePorts(wanted);
  const [api, manage, worker] = WITH_METRICS.map((name) => chosen[metricsPort(name)]!) as [number, number, number];
  const ports = Object.fromEntries(Object.entries(chosen).filter(([variable]) => variable in config));
  const CLUSTER_PORTS = Object.fromEntries(
    OF_CLUSTER.flatMap((name) => (clusterPort(name) in chosen ? [[name, chosen[clusterPort(name)]]] : [])),
  ) as ClusterPorts;
  return { ...config, ...ports, METRICS_PORT: undefined, METRICS_PORTS: { api, manage, worker }, CLUSTER_PORTS };
}

/** Fills in the addresses and secrets that the environment leaves to the stack. */
export function resolveStack(
  config: Config & Pick<StackConfig, 'METRICS_PORTS' | 'CLUSTER_PORTS'>,
  secrets: Secrets,
  env: NodeJS.ProcessEnv,
): StackConfig {
  const embeddedPostgres = (role: string, password: string, database = 'payments') =>
    `postgres://${role}:${password}@${LOOPBACK}:${config.POSTGRES_PORT}/${database}`;
  const POSTGRES_URL = config.POSTGRES_URL ?? embeddedPostgres('payments', secrets.postgres_service_password);
  // POSTGRES_PASSWORD_FILE belongs to POSTGRES_URL alone: other addresses have the password in them.
  const POSTGRES_PASSWORD_FILE = config.POSTGRES_URL && config.POSTGRES_PASSWORD_FILE;
  const given = config.POSTGRES_URL && postgresUrlWithPassword(config.POSTGRES_URL, config);
  const POSTGRES_OWNER_URL =
    config.POSTGRES_OWNER_URL ?? given ?? embeddedPostgres('postgres', secrets.postgres_password);
  const embeddedUi =
    config.TEMPORAL_ADDRESS === undefined ? `http://${LOOPBACK}:${config.TEMPORAL_UI_PORT}` : undefined;
  const embeddedKey = config.MEILISEARCH_URL === undefined ? secrets.meilisearch_key : undefined;
  return {
    ...config,
    POSTGRES_URL,
    POSTGRES_PASSWORD_FILE,
    POSTGRES_OWNER_URL,
    SIMULATOR_POSTGRES_URL:
      config.SIMULATOR_POSTGRES_URL ??
      (given === undefined
        ? embeddedPostgres('simulator', secrets.postgres_simulator_password, 'simulator')
        : simulatorDatabase(given)),
    TEMPORAL_ADDRESS: config.TEMPORAL_ADDRESS ?? `${LOOPBACK}:${config.TEMPORAL_PORT}`,
    TEMPORAL_UI_URL: config.TEMPORAL_UI_URL ?? embeddedUi,
    MEILISEARCH_URL: config.MEILISEARCH_URL ?? `http://${LOOPBACK}:${config.MEILISEARCH_PORT}`,
    MEILISEARCH_KEY: config.MEILISEARCH_KEY ?? embeddedKey,
    PUBLIC_URL: config.PUBLIC_URL ?? localApiUrl(config),
    PROCESSOR_URL: config.PROCESSOR_URL ?? `http://${reachable(config.SIMULATOR_HOST)}:${config.SIMULATOR_PORT}`,
    SIMULATOR_CONTROL_KEY: config.SIMULATOR_CONTROL_KEY ?? secrets.simulator_control_key,
    PAGE_SECRET: config.PAGE_SECRET ?? secrets.page_secret,
    PAYLOAD_KEYS: config.PAYLOAD_KEYS ?? secrets.payload_keys,
    MANAGE_PUBLIC_URL: config.MANAGE_PUBLIC_URL ?? localManageUrl(config),
    SECRET_KEYS: config.SECRET_KEYS ?? secrets.secret_keys,
    // No load balancer looks whether they are ready.
    DRAIN_MS: 0,
    // One machine without an operator who chooses versions.
    DEPLOYMENT_VERSIONING:
      setVariables(env)['DEPLOYMENT_VERSIONING'] === undefined ? 'automatic' : config.DEPLOYMENT_VERSIONING,
    // A merchant who tries things out receives webhooks on the same machine.
    WEBHOOK_PRIVATE_ADDRESSES: env['WEBHOOK_PRIVATE_ADDRESSES'] !== 'false',
  };
}

/** Where this machine scrapes the metrics of each process that exports them. */
export function metricsUrls({ METRICS_HOST, METRICS_PORTS }: StackConfig): Record<keyof MetricsPorts, string> {
  const url = (name: keyof MetricsPorts) => `http://${reachable(METRICS_HOST)}:${METRICS_PORTS[name]}/metrics`;
  return { api: url('api'), manage: url('manage'), worker: url('worker') };
}

/** Variables that any program needs to run; none of the service's own. */
const INHERITED = [
  'PATH',
  'HOME',
  'USER',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'NODE_EXTRA_CA_CERTS',
  'NODE_OPTIONS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

/** The environment of a third-party server. */
export function baseEnvironment(): Record<string, string> {
  return Object.fromEntries(
    INHERITED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

/** The configuration of the processes as variables of the environment, every default resolved. */
export function configVariables(config: Config): Record<string, string> {
  return Object.fromEntries(
    Object.entries({
      ...config,
      POSTGRES_OWNER_URL: undefined,
      METRICS_PORTS: undefined,
      CLUSTER_PORTS: undefined,
    }).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
}

const hex = (bytes: number) => () => randomBytes(bytes).toString('hex');
const encryptionKey = () => `1:${randomBytes(32).toString('base64')}`;

/** How each secret of the embedded stack is made. */
const SECRETS = {
  /** Of the superuser, who owns the schema. */
  postgres_password: hex(24),
  /** Of the role of the processes. */
  postgres_service_password: hex(24),
  postgres_simulator_password: hex(24),
  postgres_temporal_password: hex(24),
  meilisearch_key: hex(24),
  page_secret: hex(32),
  payload_keys: encryptionKey,
  secret_keys: encryptionKey,
  simulator_control_key: hex(24),
};
export type Secrets = Record<keyof typeof SECRETS, string>;

/** The secrets in `data_dir`; missing ones are made and written, readable by the owner alone. */
export function keepSecrets(data_dir: string): Secrets {
  return keepInFile(path.join(data_dir, 'secrets.json'), SECRETS);
}
